import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';

const modules = 'nvgpu 2654208 24 - Live 0x0\noverlay 151552 12 - Live 0x0\n';
const noNvml: Changes = {
  files: {
    '/usr/bin/nvidia-smi': null,
    '/usr/lib/aarch64-linux-gnu/nvidia/libnvidia-ml.so.1': null,
    '/proc/modules': modules,
    '/proc/driver/nvidia': null,
    '/dev/nvidiactl': null,
    '/dev/nvidia-uvm': null,
    '/dev/nvidia-uvm-tools': null,
    '/usr/lib/modules/5.15.148-tegra/updates': null,
  },
  commands: { 'modinfo -F version nvidia': { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
  absent: ['nvidia-smi'],
};
const release = (text: string): Changes => ({
  files: { '/etc/nv_tegra_release': (before) => before.replace(/^# R36 \(release\), REVISION: [\d.]+/, text) },
});

test.each<[string, Changes[]]>([
  ['JetPack 5', [noNvml, release('# R35 (release), REVISION: 6.1')]],
  ['JetPack 6 without its NVML', [noNvml]],
  [
    'JetPack 6 whose nvidia-smi answers N/A only',
    [
      {
        commands: {
          'nvidia-smi -q -x': {
            exitCode: 9,
            stdout: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
          },
        },
      },
    ],
  ],
])('%s: nothing that has no NVML is taken for a failure', async (_, changes) => {
  const host = await observeChanged('orin', ...changes);
  expect(host.facts.jetson.value?.isTegra).toBe(true);
  expect(host.findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  expect(host.cannotTell).toEqual([]);
});
