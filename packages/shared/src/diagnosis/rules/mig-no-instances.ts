import { defineRule, type Found } from '../define-rule.ts';
import { gpuName, isNotLoaded } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const migNoInstances = defineRule({
  code: 'MIG_NO_INSTANCES',
  layer: 'driver',
  severity: 'blocker',
  title: 'MIG is enabled on a GPU and it has no MIG device',
  notWhen:
    'MIG is about to be disabled; the GPU has instances; the driver does not list them; a program runs in an instance',
  proposes: [],
  needs: ['driver', 'gpus'],
  searches: ['gpus'],
  onTegra: 'with_nvml',
  consequenceOf: ['MIG_CHANGE_PENDING'],
  excludedBy: ({ driver }) => driver !== null && isNotLoaded(driver),
  check({ gpus }, asked) {
    const found: Found[] = [];
    let untold: string | null = null;
    for (const gpu of gpus.gpus) {
      if (gpu.lost || gpu.mig.current !== 'enabled' || gpu.mig.devices.length > 0) continue;
      if (gpu.mig.pending === 'disabled') continue;
      if (gpu.processes.some(({ gpuInstanceId }) => gpuInstanceId !== null)) continue;
      const unread = asked.unread('gpus', `gpus.${gpu.index}.mig.devices`);
      if (unread) {
        untold ??= `the MIG devices of GPU ${gpuName(gpu)} were not read: ${unread}`;
        continue;
      }
      found.push({
        subject: `gpu:${gpuName(gpu)}`,
        severity: 'blocker',
        summary: `GPU ${gpuName(gpu)} has MIG enabled and no instances: no container can use it`,
        evidence: [{ source: sources.smiXml, quote: 'current_mig Enabled, mig_devices None' }],
        remedy: null,
        person:
          'Say which layout this GPU should have and create it (nvidia-smi mig -cgi … -C): no layout is on record here.',
      });
    }
    return found.length === 0 && untold !== null ? { cannotTell: untold } : found;
  },
});
