import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { observeCrio } from './crio-hosts.ts';
import { info, infoArgv } from './docker-host.ts';

const code = 'TOOLKIT_NOT_INSTALLED';
const names = [
  'nvidia-container-runtime',
  'nvidia-container-runtime-hook',
  'nvidia-container-cli',
  'nvidia-ctk',
  'nvidia-cdi-hook',
];
const gone: Changes = {
  files: Object.fromEntries(names.map((name) => [`/usr/bin/${name}`, null])),
  absent: ['nvidia-ctk', 'nvidia-container-cli'],
};

/** A board has the toolkit of its L4T, from L4T's own repository. */
const ofL4t = {
  kind: 'repair_packages',
  params: {
    packages: [
      'libnvidia-container1',
      'libnvidia-container-tools',
      'nvidia-container-toolkit-base',
      'nvidia-container-toolkit',
    ],
  },
};

test.each([
  ['x86-docker', 'docker'],
  ['a100-mig', 'docker'],
  ['orin', 'docker'],
  ['x86-containerd-1.7', 'containerd'],
  ['x86-containerd-2', 'containerd'],
  ['k3s-server', 'k3s'],
  ['k3s-agent', 'k3s'],
] as const)('on %s proposes to install it and to configure %s, in a window', async (className, runtime) => {
  const host = await observeChanged(className, gone);
  const [finding] = host.of(code);
  expect(finding?.remedy).toEqual({
    jobs: [
      className === 'orin' ? ofL4t : { kind: 'install_toolkit', params: {} },
      { kind: 'configure_runtime', params: { runtime } },
    ],
    approval: 'window',
  });
  expect(finding?.evidence.at(-1)?.source).toContain('dpkg-query');
  expect(host.causes()).toContain(code);
});

test('what a CDI specification lacks without the toolkit is its consequence', async () => {
  const host = await observeChanged('x86-containerd-2', gone);
  expect(host.of('CDI_SPEC_STALE')[0]?.consequenceOf?.code).toBe(code);
});

test('is silent without a GPU and when the driver does not answer', async () => {
  expect((await observeChanged('no-gpu', gone)).of(code)).toEqual([]);
  const unloaded = { files: { '/proc/driver/nvidia/version': null } };
  expect((await observeChanged('x86-docker', gone, unloaded)).of(code)).toEqual([]);
});

test('is silent when docker is the snap or Docker Desktop, and when the operator’s toolkit is there', async () => {
  const snap = { files: { '/usr/bin/dockerd': null, '/snap/docker/current/bin/dockerd': 'ELF' } };
  expect((await observeChanged('x86-docker', gone, snap)).of(code)).toEqual([]);
  const desktop = { commands: { [infoArgv]: info({ OperatingSystem: 'Docker Desktop' }) } };
  expect((await observeChanged('x86-docker', gone, desktop)).of(code)).toEqual([]);
  const operator = { files: { '/usr/local/nvidia/toolkit/nvidia-container-runtime': '#!/bin/sh\n' } };
  expect((await observeChanged('k3s-agent', gone, operator)).of(code)).toEqual([]);
});

test('cannot tell where the folders of programs could not be looked into', async () => {
  const denied = { files: { '/usr/bin/nvidia-container-runtime': { as: { error: 'EACCES' } } } };
  const others = { files: Object.fromEntries(names.slice(1).map((name) => [`/usr/bin/${name}`, null])) };
  const host = await observeChanged('x86-docker', denied, others);
  expect(host.of(code)).toEqual([]);
});

test('an engine behind the kubelet that is neither docker nor containerd has to learn of it as well', async () => {
  const rke2 = await observeChanged('rke2-server', gone);
  expect(rke2.of(code)[0]?.remedy?.jobs).toContainEqual({ kind: 'configure_runtime', params: { runtime: 'rke2' } });
  const crio = await observeCrio(gone);
  expect(crio.of(code)[0]?.remedy?.jobs.map(({ params }) => params.runtime)).toEqual([undefined, 'crio']);
});
