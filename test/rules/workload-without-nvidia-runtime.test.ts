import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';

const code = 'WORKLOAD_WITHOUT_NVIDIA_RUNTIME';
const podsArgv = 'crictl --runtime-endpoint unix:///run/containerd/containerd.sock pods -o json';
const under = (handler: string) => ({
  commands: {
    [podsArgv]: (text: string) => text.replace('"runtimeHandler": "nvidia"', `"runtimeHandler": "${handler}"`),
  },
});

test.each(['', 'runc'])('tells a pod that was given a GPU and runs under %j', async (handler) => {
  const [finding, ...more] = (await observeChanged('x86-containerd-2', under(handler))).of(code);
  expect(more).toEqual([]);
  expect(finding).toMatchObject({ subject: 'pod:default/inference-0', severity: 'info', layer: 'workload' });
  expect(finding?.person).toContain('runtimeClassName: nvidia');
});

test('is silent under NVIDIA’s handler, and under the default where that is nvidia', async () => {
  expect((await observeChanged('x86-containerd-2')).of(code)).toEqual([]);
  const asDefault = await observeChanged('x86-containerd-2', under(''), {
    commands: {
      'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info': (text) =>
        text.replace('"defaultRuntimeName": "runc"', '"defaultRuntimeName": "nvidia"'),
    },
  });
  expect(asDefault.of(code)).toEqual([]);
});

test('cannot tell when the engine’s runtimes are not known', async () => {
  const host = await observeChanged('x86-containerd-2', under(''), {
    commands: {
      'crictl --runtime-endpoint unix:///run/containerd/containerd.sock info': 'not_recorded',
      'containerd --version': 'not_recorded',
    },
    files: { '/etc/containerd/config.toml': { as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('not known');
});
