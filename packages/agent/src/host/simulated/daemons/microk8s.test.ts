import { expect, test } from 'vitest';
import { writeMicrok8sTemplate } from '../classes/microk8s.ts';
import { createSimulatedHost } from '../index.ts';
import { runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';
import { microk8sRendered, microk8sTemplate } from './microk8s.ts';

const aHost = () => createSimulatedHost({ class: 'microk8s-server', name: 'host-1', clock: createStoppedClock() });
const rendered = (host: ReturnType<typeof aHost>) => host.machine.files.text(microk8sRendered) ?? '';

test.each([
  'snap restart microk8s',
  'snap restart microk8s.daemon-containerd',
  'systemctl restart snap.microk8s.daemon-containerd',
])('%s makes the configuration anew from the template', async (restart) => {
  const host = aHost();
  writeMicrok8sTemplate(host.machine, false);
  host.machine.files.put(microk8sRendered, `${rendered(host)}# edited by hand\n`);
  await runOn(host, restart);
  expect(rendered(host)).not.toContain('runtimes.nvidia]');
  expect(rendered(host)).not.toContain('edited by hand');
  expect(rendered(host)).toContain('default_runtime_name = "runc"');
  expect(rendered(host)).not.toContain('${');
});

test('a template that is not TOML keeps its containerd down', async () => {
  const host = aHost();
  host.machine.files.put(microk8sTemplate, 'version = 2\n[plugins');
  const ran = await runOn(host, 'snap restart microk8s.daemon-containerd');
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('cannot perform the following tasks') });
  expect(host.machine.live.microk8s).toBeNull();
});

test('a restart of the snap restarts every service of it, and no other', async () => {
  const host = aHost();
  await runOn(host, 'snap restart microk8s');
  const restarted = host.machine.effects.flatMap((effect) => (effect.do === 'restart' ? [effect.unit] : []));
  expect(restarted).toEqual(
    ['containerd', 'k8s-dqlite', 'kubelite', 'cluster-agent'].map((name) => `snap.microk8s.daemon-${name}.service`),
  );
  expect(await runOn(host, 'snap restart other')).toMatchObject({
    exitCode: 1,
    stderr: 'error: snap "other" not found\n',
  });
});

test('the API does not answer while its service is down', async () => {
  const host = aHost();
  await runOn(host, 'systemctl stop snap.microk8s.daemon-kubelite');
  const ran = await runOn(
    host,
    '/snap/microk8s/current/kubectl --kubeconfig /var/snap/microk8s/current/credentials/client.config get runtimeclasses -o json',
  );
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('127.0.0.1:16443 was refused') });
});
