import type { KernelEvent } from '../../probes/kernel-log/fact.ts';
import { defineRule } from '../define-rule.ts';
import { answers, gpuSubject, nothingOnBus, quoted, sinceLoad } from '../kernel-events.ts';

export const driverFlavourUnsupported = defineRule({
  code: 'DRIVER_FLAVOUR_UNSUPPORTED',
  layer: 'driver',
  severity: 'blocker',
  title:
    'The proprietary kernel modules met a GPU that requires the open ones, or the open modules one without a GPU System Processor, as the kernel log says',
  notWhen: 'the kernel says neither; the modules loaded now are of the other flavour; the GPU answers',
  proposes: [],
  needs: ['kernel_log', 'driver'],
  uses: ['gpus', 'pci'],
  missesIn: ['gpus'],
  excludedBy: nothingOnBus,
  check({ kernel_log: log, driver, gpus }) {
    const said = sinceLoad(log);
    const wrong = (event: KernelEvent) =>
      (event.kind === 'needs_open_modules' && driver.flavour !== 'open') ||
      (event.kind === 'gpu_without_gsp' && driver.flavour !== 'proprietary');
    const seen = new Set<string | null>();
    return said.filter(wrong).flatMap((event) => {
      if (answers(event.address, gpus) || seen.has(event.address)) return [];
      seen.add(event.address);
      const needsOpen = event.kind === 'needs_open_modules';
      const name = event.address === null ? 'A GPU' : `GPU ${event.address}`;
      return [
        {
          subject: gpuSubject(event.address, gpus),
          severity: 'blocker' as const,
          summary: needsOpen
            ? `${name} works only with NVIDIA’s open kernel modules, and the proprietary ones are installed`
            : `${name} is too old for NVIDIA’s open kernel modules, and they are the ones installed`,
          evidence: quoted(log, [event]),
          remedy: null,
          person: needsOpen
            ? 'Install the package with the open modules (-open) of the same driver branch and reboot.'
            : 'Install the proprietary modules, of a branch that still has them for this GPU (580 or older), and reboot.',
        },
      ];
    });
  },
});
