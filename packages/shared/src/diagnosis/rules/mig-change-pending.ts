import { defineRule } from '../define-rule.ts';
import { gpuName } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const migChangePending = defineRule({
  code: 'MIG_CHANGE_PENDING',
  layer: 'driver',
  severity: 'warning',
  title: 'A GPU’s current MIG mode differs from its pending one; the evidence names the processes that hold it',
  notWhen: 'the modes are equal; the GPU is not MIG capable (N/A)',
  proposes: ['reset_gpu'],
  needs: ['driver', 'gpus'],
  onTegra: 'with_nvml',
  excludedBy: ({ driver }) => driver !== null && driver.loadedVersion === null,
  check({ gpus }) {
    return gpus.gpus
      .filter(({ mig, lost }) => !lost && mig.current !== null && mig.pending !== null && mig.current !== mig.pending)
      .map((gpu) => ({
        subject: `gpu:${gpuName(gpu)}`,
        severity: 'warning' as const,
        summary: `GPU ${gpuName(gpu)} waits for a reset to have MIG ${gpu.mig.pending}: it is still ${gpu.mig.current}`,
        evidence: [
          {
            source: sources.smiXml,
            quote: `current_mig ${capital(gpu.mig.current)}, pending_mig ${capital(gpu.mig.pending)}`,
          },
          ...gpu.processes.map((process) => ({
            source: sources.smiXml,
            quote: `held by pid ${process.pid} (${process.name ?? 'name not given'})`,
          })),
        ],
        remedy: { jobs: [{ kind: 'reset_gpu' as const, params: { gpu: gpuName(gpu) } }], approval: 'approve' as const },
        person: null,
      }));
  },
});

function capital(mode: string | null): string {
  return mode === null ? 'N/A' : `${mode.charAt(0).toUpperCase()}${mode.slice(1)}`;
}
