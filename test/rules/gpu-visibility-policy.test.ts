import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { logPath } from './kube-changes.ts';

const code = 'GPU_VISIBILITY_POLICY';
const toolkit = '/etc/nvidia-container-runtime/config.toml';
const byDefault: Changes = {
  commands: {
    'k3s crictl info': (text) => text.replace('"defaultRuntimeName": "runc"', '"defaultRuntimeName": "nvidia"'),
  },
};
const closed: Changes = {
  files: { [toolkit]: (text) => `accept-nvidia-visible-devices-envvar-when-unprivileged = false\n${text}` },
};
const mounts: Changes = {
  files: { [toolkit]: (text) => `accept-nvidia-visible-devices-as-volume-mounts = true\n${text}` },
};
const strategy = (name: string): Changes => ({
  files: { [logPath('k3s-server')]: (text) => text.replace('"envvar"', `"${name}"`) },
});

test('warns where nvidia is the default and a variable of the image chooses the GPUs', async () => {
  const host = await observeChanged('k3s-server', byDefault);
  expect(host.of(code)).toMatchObject([
    {
      severity: 'warning',
      evidence: [
        { quote: 'default_runtime_name nvidia' },
        {
          source: `file:${toolkit}`,
          quote: `accept-nvidia-visible-devices-envvar-when-unprivileged is not set in ${toolkit}; the default is true`,
        },
        { quote: 'Running with config: envvar' },
      ],
      remedy: { jobs: [{ kind: 'set_toolkit_config' }, { kind: 'deploy_device_plugin' }], approval: 'approve' },
    },
  ]);
});

test('tells a toolkit and a plugin that do not agree on the way', async () => {
  expect((await observeChanged('k3s-server', closed)).of(code)[0]?.summary).toContain(
    'does not take from unprivileged',
  );
  const refused = await observeChanged('k3s-server', closed, strategy('volume-mounts'));
  expect(refused.of(code)[0]?.summary).toContain('volume mounts');
});

test('is silent without nvidia as the default, when both agree, and with CDI', async () => {
  expect((await observeChanged('k3s-server')).of(code)).toEqual([]);
  expect((await observeChanged('k3s-server', byDefault, closed, mounts, strategy('volume-mounts'))).of(code)).toEqual(
    [],
  );
  expect((await observeChanged('k3s-server', byDefault, closed, strategy('cdi-cri'))).of(code)).toEqual([]);
  expect((await observeChanged('x86-docker')).of(code)).toEqual([]);
});

test('cannot tell when the default runtime of the engine is not known', async () => {
  const host = await observeChanged('k3s-server', {
    commands: { 'k3s crictl info': { timedOut: true } },
    files: { '/var/lib/rancher/k3s/agent/etc/containerd/config.toml': null },
  });
  expect(host.untold(code)).toContain('timed_out');
});
