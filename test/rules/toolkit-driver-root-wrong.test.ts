import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { toolkitConfig } from './docker-host.ts';

const code = 'TOOLKIT_DRIVER_ROOT_WRONG';
const operatorConfig = '/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml';
const operator: Changes = {
  files: {
    '/usr/local/nvidia/toolkit/nvidia-container-runtime': '#!/bin/sh\n',
    [operatorConfig]:
      '[nvidia-container-cli]\nroot = "/run/nvidia/driver"\n[nvidia-container-runtime]\nmode = "auto"\n',
  },
};
const empty: Changes = { files: { '/run/nvidia/driver': { special: { type: 'dir' } } } };

test('tells the operator’s root that leads into an empty driver container', async () => {
  const [finding] = (await observeChanged('x86-containerd-2', operator, empty)).of(code);
  expect(finding).toMatchObject({
    subject: `file:${operatorConfig}`,
    severity: 'blocker',
    remedy: {
      jobs: [{ kind: 'set_toolkit_config', params: { driverRoot: '/', configPath: operatorConfig } }],
      approval: 'approve',
    },
  });
  expect(finding?.summary).toContain('which is empty');
  expect(finding?.person).toContain('driver.enabled=false');
});

test('tells a root that is missing in the system’s own configuration', async () => {
  const own: Changes = { files: { [toolkitConfig]: (text) => text.replace('#root = ', 'root = ') } };
  const host = await observeChanged('x86-docker', own);
  expect(host.of(code)[0]).toMatchObject({
    subject: `file:${toolkitConfig}`,
    remedy: { jobs: [{ params: { driverRoot: '/' } }] },
    person: null,
  });
  expect(host.of('DRIVER_NOT_INSTALLED')).toEqual([]);
});

test('is silent while the root is unset, filled, or the host has no driver of its own', async () => {
  const filled: Changes = { files: { '/run/nvidia/driver/usr/bin/nvidia-smi': 'ELF' } };
  expect((await observeChanged('x86-containerd-2', operator, filled)).of(code)).toEqual([]);
  const none: Changes = {
    files: { '/proc/driver/nvidia/version': null, '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': null },
  };
  expect((await observeChanged('x86-containerd-2', operator, empty, none)).of(code)).toEqual([]);
});

test('cannot tell while nvidia-smi does not answer', async () => {
  const silent: Changes = { commands: { 'nvidia-smi -q -x': { timedOut: true, stdout: '' } } };
  const host = await observeChanged('x86-containerd-2', operator, empty, silent);
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('gpus');
});
