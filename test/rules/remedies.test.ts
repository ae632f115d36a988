import { planJob } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { rootlessUser, toolkitConfig } from './docker-host.ts';

const config = (from: string, to: string): Changes => ({
  files: { [toolkitConfig]: (text) => text.replace(from, to) },
});
const nvidiaUser = rootlessUser('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}');
const noSpec: Changes = { files: { '/run/cdi/nvidia.yaml': null } };
const oldSpec = (path: string): Changes => ({
  files: {
    '/run/cdi/nvidia.yaml': null,
    [path]:
      'cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits:\n    mounts:\n    - hostPath: /usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15\n      containerPath: /x\n',
  },
});

/** Each host as it was found, with the first job that its finding proposes. */
const found: [string, string, SimulatedClass, Changes[]][] = [
  [
    'filters off beside root',
    'TOOLKIT_NO_CGROUPS_MISMATCH',
    'x86-docker',
    [config('#no-cgroups = false', 'no-cgroups = true')],
  ],
  ['a rootless docker', 'TOOLKIT_NO_CGROUPS_MISMATCH', 'x86-docker', [nvidiaUser]],
  [
    'a root without a driver',
    'TOOLKIT_DRIVER_ROOT_WRONG',
    'x86-docker',
    [config('#root = "/run/nvidia/driver"', 'root = "/run/nvidia/driver"')],
  ],
  ['mode cdi without a specification', 'CDI_SPEC_MISSING', 'x86-docker', [config('mode = "auto"', 'mode = "cdi"')]],
  [
    'the same with the refresh service',
    'CDI_SPEC_MISSING',
    'x86-containerd-2',
    [config('mode = "auto"', 'mode = "cdi"'), noSpec],
  ],
  ['an old specification', 'CDI_SPEC_STALE', 'x86-docker', [oldSpec('/etc/cdi/nvidia.yaml')]],
  ['one that the service wrote', 'CDI_SPEC_STALE', 'x86-containerd-2', [oldSpec('/run/cdi/nvidia.yaml')]],
  ['one below /run that nothing makes again', 'CDI_SPEC_STALE', 'k3s-agent', [oldSpec('/run/cdi/nvidia.yaml')]],
];

test.each(found)('%s: what it proposes can be planned on that host', async (_, code, hostClass, changes) => {
  const { of, facts } = await observeChanged(hostClass, ...changes);
  const jobs = of(code).flatMap(({ remedy }) => remedy?.jobs[0] ?? []);
  expect(jobs).not.toEqual([]);
  for (const job of jobs) expect(planJob(job, facts)).toMatchObject({ outcome: 'plan' });
});
