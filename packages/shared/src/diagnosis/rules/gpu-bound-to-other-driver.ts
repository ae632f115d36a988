import { defineRule } from '../define-rule.ts';
import { isPassthrough } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const gpuBoundToOtherDriver = defineRule({
  code: 'GPU_BOUND_TO_OTHER_DRIVER',
  layer: 'driver',
  severity: 'blocker',
  title: 'The kernel driver bound to an NVIDIA display function is not nvidia; info where it is held for passthrough',
  notWhen: 'bound to nvidia, or to nothing; audio and USB functions of the card',
  proposes: [],
  needs: ['pci'],
  onTegra: 'with_nvml',
  consequenceOf: ['DRIVER_NOT_INSTALLED'],
  excludedBy: ({ pci }) => pci?.gpus.every((gpu) => gpu.driver === null || gpu.driver === 'nvidia') ?? false,
  check({ pci }) {
    return pci.gpus
      .filter((gpu) => gpu.driver !== null && gpu.driver !== 'nvidia')
      .map((gpu) => {
        const passthrough = isPassthrough(gpu.driver);
        return {
          // No UUID is known without the nvidia driver: the link that says so is what can be named.
          subject: sources.pciDriver(gpu.address),
          severity: passthrough ? ('info' as const) : ('blocker' as const),
          summary: passthrough
            ? `GPU ${gpu.address} is held by ${gpu.driver} for a virtual machine`
            : `GPU ${gpu.address} is held by ${gpu.driver} instead of the nvidia driver`,
          evidence: [{ source: sources.pciDriver(gpu.address), quote: `driver -> ${gpu.driver}` }],
          remedy: null,
          person: passthrough
            ? 'Nothing, where this host passes its GPUs to virtual machines. Never unbind it while one may use the card.'
            : `Keep ${gpu.driver} from loading (modprobe.d blacklist), rebuild the initramfs and reboot.`,
        };
      });
  },
});
