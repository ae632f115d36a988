import { defineRule } from '../define-rule.ts';
import { hasGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const noNvidiaGpu = defineRule({
  code: 'NO_NVIDIA_GPU',
  layer: 'hardware',
  severity: 'info',
  title: 'The PCI bus has no NVIDIA display function and the host is no Tegra board',
  notWhen: 'the bus could not be read; the nvidia module is loaded (a GPU may have fallen off); WSL',
  proposes: [],
  needs: ['pci', 'jetson', 'driver', 'os', 'device_nodes'],
  excludedBy: ({ pci, jetson, os }) =>
    (pci?.gpus.length ?? 0) > 0 || jetson?.isTegra === true || os?.virtualisation === 'wsl',
  check({ pci, jetson, driver, device_nodes }, asked) {
    const unread = asked.unread('pci', 'gpus') ?? asked.unread('jetson', 'isTegra');
    if (unread) return { cannotTell: `the hardware was not read completely: ${unread}` };
    const isWindows = device_nodes.nodes.some(({ path }) => path === '/dev/dxg');
    if (hasGpu({ pci, jetson }) || isWindows || driver.libraryPath?.startsWith('/usr/lib/wsl/')) return [];
    // The module refuses to load without a GPU, so there was one when it was loaded.
    if (driver.modules.includes('nvidia'))
      return { cannotTell: 'the nvidia module is loaded although no GPU is on the bus: one may have fallen off' };
    return [
      {
        subject: null,
        severity: 'info',
        summary: 'This host has no NVIDIA GPU: GPU workloads belong on another host',
        evidence: [{ source: sources.pciBus, quote: 'no function with vendor 0x10de and class 0x03…' }],
        remedy: null,
        person: null,
      },
    ];
  },
});
