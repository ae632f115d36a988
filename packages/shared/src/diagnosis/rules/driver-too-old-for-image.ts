import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { failedStarts, nameOf, subjectOf, surelyNone, untoldStarts } from './workload-parts.ts';

const condition = /unsatisfied condition: cuda\s*>=\s*(\d+)\.(\d+)/i;

export const driverTooOldForImage = defineRule({
  code: 'DRIVER_TOO_OLD_FOR_IMAGE',
  layer: 'workload',
  severity: 'blocker',
  title: 'A start failed because the image wants a newer CUDA (cuda>=X.Y) than the newest that the driver supports',
  notWhen: 'the driver supports it now; the container switches the check off; what nvcc says',
  proposes: [],
  needs: ['gpus', 'workloads'],
  consequenceOf: ['DRIVER_LIBRARY_MISMATCH'],
  excludedBy: ({ workloads }) => surelyNone(workloads, ['requirement'], condition),
  check({ gpus, workloads }, asked) {
    const starts = failedStarts(workloads, 'requirement', condition);
    if (starts.length === 0) return untoldStarts(workloads, asked) ?? [];
    const supported = gpus.cudaVersion?.split('.').map(Number);
    const [major, minor = 0] = supported ?? [];
    if (major === undefined || Number.isNaN(major))
      return { cannotTell: 'nvidia-smi does not say which CUDA the driver supports' };
    return starts.flatMap(({ container, text, evidence }): Found[] => {
      const [, wantedMajor = 0, wantedMinor = 0] = condition.exec(text)?.map(Number) ?? [];
      const isNewer = wantedMajor > major || (wantedMajor === major && wantedMinor > minor);
      if (!isNewer || container?.gpu.disableRequire) return [];
      return [
        {
          subject: subjectOf(container),
          severity: 'blocker',
          summary: `${nameOf(container)} wants CUDA ${wantedMajor}.${wantedMinor}; this driver supports ${gpus.cudaVersion} at most`,
          evidence: [evidence, { source: sources.smiXml, quote: `<cuda_version>${gpus.cudaVersion}</cuda_version>` }],
          remedy: null,
          person: `Take an image for CUDA ${gpus.cudaVersion} or older, or plan a driver upgrade for this host.`,
        },
      ];
    });
  },
});
