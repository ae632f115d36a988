import { rules } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { cdiSpec, library, modeCdi } from './cdi-host.ts';
import { type Changes, type Observed, observeChanged } from './changed-host.ts';
import { dropIn, liveWithoutNvidia } from './containerd-hosts.ts';
import { crun, observeCrio, status } from './crio-hosts.ts';
import { daemonJson, liveWithoutNvidia as dockerWithoutNvidia } from './docker-host.ts';
import { blindLines, logged, plugin, resources } from './kube-changes.ts';

const version = '/proc/driver/nvidia/version';
const denied: Changes = { files: { [version]: { as: { error: 'EACCES' } } } };
const hidden: Changes = { files: { [version]: null } };

const programs = ['runtime', 'runtime-hook', 'cli'].map((name) => `/usr/bin/nvidia-container-${name}`);
const noToolkit: Changes = {
  files: Object.fromEntries(
    [...programs, '/usr/bin/nvidia-ctk', '/usr/bin/nvidia-cdi-hook'].map((path) => [path, null]),
  ),
  absent: ['nvidia-ctk', 'nvidia-container-cli'],
};
const on =
  (className: SimulatedClass, ...changes: Changes[]) =>
  (...more: Changes[]): Promise<Observed> =>
    observeChanged(className, ...changes, ...more);
const noGpus = resources('node', { capacity: { 'nvidia.com/gpu': null }, allocatable: { 'nvidia.com/gpu': null } });
const noClass = plugin((spec) => {
  delete spec.runtimeClassName;
});

const cases: [string, (...more: Changes[]) => Promise<Observed>][] = [
  ['TOOLKIT_NOT_INSTALLED', on('x86-docker', noToolkit)],
  [
    'DOCKER_RUNTIME_NOT_CONFIGURED',
    on('x86-docker', { files: { [daemonJson]: '{"log-driver": "json-file"}\n' } }, dockerWithoutNvidia),
  ],
  ['CDI_SPEC_MISSING', on('x86-docker', modeCdi)],
  ['CDI_SPEC_STALE', on('x86-docker', { files: { '/etc/cdi/nvidia.yaml': cdiSpec([library('550.127.08')]) } })],
  ['CONTAINERD_RUNTIME_NOT_CONFIGURED', on('x86-containerd-2', { files: { [dropIn]: null } }, liveWithoutNvidia)],
  [
    'CONTAINERD_RUNTIME_NOT_CONFIGURED',
    (...more) =>
      observeCrio({ files: { '/etc/crio/crio.conf.d/99-nvidia.toml': null }, commands: { [status]: crun } }, ...more),
  ],
  ['DEVICE_PLUGIN_WITHOUT_NVIDIA_RUNTIME', on('k3s-server', ...noClass, logged('k3s-server', ...blindLines), noGpus)],
];

test.each(cases)('%s is no claim while it is not known whether the driver answers', async (code, observe) => {
  expect((await observe()).of(code)).not.toEqual([]);
  const unread = await observe(denied);
  expect(unread.of(code)).toEqual([]);
  expect(unread.untold(code)).toMatch(/whether the driver answers is not known: .*\(denied\)/);
  const gone = await observe(hidden);
  expect(gone.of(code)).toEqual([]);
  expect(gone.untold(code)).toContain('the driver does not show it');
});

test('a healthy host whose driver hides its version has no findings for it', async () => {
  for (const className of ['x86-docker', 'x86-containerd-2', 'k3s-server'] as const)
    expect((await observeChanged(className, denied)).causes()).toEqual([]);
});

test('every rule that stands on the driver reads what that is known by', () => {
  const standing = rules.filter(({ standsOnDriver }) => standsOnDriver);
  expect(standing.map(({ code }) => code).sort()).toEqual(cases.map(([code]) => code).sort());
  for (const { code, needs } of standing)
    expect([code, ...needs]).toEqual(expect.arrayContaining(['driver', 'jetson']));
});
