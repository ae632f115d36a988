import { expect, test } from 'vitest';
import { createSimulatedHost } from '../index.ts';
import { criInfoOf, runOn } from '../testing/run-on.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';

const rendered = '/var/lib/rancher/k3s/agent/etc/containerd/config.toml';
const template = '/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.tmpl';

function k3sHost() {
  return createSimulatedHost({ class: 'k3s-server', name: 'host-1', clock: createStoppedClock() });
}

test('k3s finds the runtime when it starts, not before', async () => {
  const host = k3sHost();
  host.machine.files.remove('/usr/bin/nvidia-container-runtime');
  expect(Object.keys((await criInfoOf(host)).config.containerd.runtimes)).toContain('nvidia');
  await runOn(host, 'systemctl restart k3s.service');
  expect(Object.keys((await criInfoOf(host)).config.containerd.runtimes)).toEqual(['runc']);
  expect(host.machine.files.text(rendered)).not.toContain('nvidia');
});

test("the operator's toolkit is found first", async () => {
  const host = k3sHost();
  host.machine.files.put('/usr/local/nvidia/toolkit/nvidia-container-runtime', '');
  await runOn(host, 'systemctl restart k3s.service');
  expect(host.machine.files.text(rendered)).toContain(
    'BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"',
  );
});

test('a default runtime from config.yaml.d is taken', async () => {
  const host = k3sHost();
  host.machine.files.put('/etc/rancher/k3s/config.yaml.d/50-nvidia.yaml', 'default-runtime: nvidia\n');
  await runOn(host, 'systemctl restart k3s.service');
  expect((await criInfoOf(host)).config.containerd.defaultRuntimeName).toBe('nvidia');
});

test.each([
  [
    'a default runtime that is not there',
    '/etc/rancher/k3s/config.yaml.d/50.yaml',
    'default-runtime: kata\n',
    'default runtime kata was not found',
  ],
  ['settings that are not YAML', '/etc/rancher/k3s/config.yaml', 'a: [\n', 'yaml:'],
  [
    'a template with a field that it does not know',
    template,
    '{{ range .ExtraRuntimes }}{{ end }}',
    "can't evaluate field ExtraRuntimes",
  ],
  [
    'a template that repeats a table of the base',
    template,
    `{{ template "base" . }}\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]\nruntime_type = "x"\n`,
    'containerd exited',
  ],
])('%s keeps k3s from starting', async (_, path, text, words) => {
  const host = k3sHost();
  host.machine.files.put(path, text);
  expect((await runOn(host, 'systemctl restart k3s.service')).exitCode).toBe(1);
  expect(host.machine.units.get('k3s.service')?.log.join()).toContain(words);
  expect((await runOn(host, 'k3s crictl info')).exitCode).toBe(1);
});

test('the node loses its GPUs when the runtime is gone', async () => {
  const host = k3sHost();
  const capacity = async () =>
    JSON.parse((await runOn(host, 'k3s kubectl get node host-1 -o json')).stdout).status.capacity;
  expect(await capacity()).toMatchObject({ 'nvidia.com/gpu': '1' });
  host.machine.files.remove('/usr/bin/nvidia-container-runtime');
  await runOn(host, 'systemctl restart k3s.service');
  expect(await capacity()).toMatchObject({ 'nvidia.com/gpu': '0' });
});

test('only a server may ask the cluster', async () => {
  const agent = createSimulatedHost({ class: 'k3s-agent', name: 'host-2', clock: createStoppedClock() });
  const asked = await runOn(agent, 'k3s kubectl get node host-2 -o json');
  expect(asked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('was refused') });
  const other = await runOn(k3sHost(), 'k3s kubectl get node host-9 -o json');
  expect(other).toMatchObject({ exitCode: 1, stderr: 'Error from server (NotFound): nodes "host-9" not found\n' });
});

test('k3s brings a RuntimeClass for nvidia and none for nvidia-cdi', async () => {
  const list = JSON.parse((await runOn(k3sHost(), 'k3s kubectl get runtimeclasses -o json')).stdout);
  const names = list.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  expect(names).toContain('nvidia');
  expect(names).not.toContain('nvidia-cdi');
});

test('hosts of one cluster share its authority', () => {
  const ca = (name: string, cluster: string) =>
    createSimulatedHost({ class: 'k3s-agent', name, cluster, clock: createStoppedClock() }).machine.files.text(
      '/var/lib/rancher/k3s/agent/client-ca.crt',
    );
  expect(ca('host-1', 'a')).toBe(ca('host-2', 'a'));
  expect(ca('host-1', 'a')).not.toBe(ca('host-1', 'b'));
});
