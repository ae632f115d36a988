import { defineRule } from '../define-rule.ts';
import { hasGpu } from '../host-questions.ts';
import { offBusEvents } from '../kernel-events.ts';
import { reasonInWords } from '../reasons.ts';
import { sources } from '../sources.ts';

export const noNvidiaGpu = defineRule({
  code: 'NO_NVIDIA_GPU',
  layer: 'hardware',
  severity: 'info',
  title: 'The PCI bus has no NVIDIA display function and the host is no Tegra board',
  notWhen:
    'the bus could not be read; the nvidia module is loaded, or the kernel log of this boot says that a GPU fell off the bus (GPU_OFF_BUS); WSL',
  proposes: [],
  needs: ['pci', 'jetson', 'driver', 'os', 'device_nodes'],
  uses: ['kernel_log'],
  excludedBy: ({ pci, jetson, os }) =>
    (pci?.gpus.length ?? 0) > 0 || jetson?.isTegra === true || os?.virtualisation === 'wsl',
  check({ pci, jetson, driver, device_nodes, kernel_log: log }, asked) {
    const unread = asked.unread('pci', 'gpus') ?? asked.unread('jetson', 'isTegra');
    if (unread) return { cannotTell: `the hardware was not read completely: ${unread}` };
    const isWindows = device_nodes.nodes.some(({ path }) => path === '/dev/dxg');
    if (hasGpu({ pci, jetson }) || isWindows || driver.libraryPath?.startsWith('/usr/lib/wsl/')) return [];
    // The module refuses to load without a GPU, so there was one when it was loaded.
    if (driver.modules.includes('nvidia') || (log !== null && offBusEvents(log).length > 0)) return [];
    // Nobody installs a driver where there never was a GPU: what became of it, the log would tell.
    const unlogged = log === null ? asked.unreadable('kernel_log') : null;
    if (unlogged && (driver.libraryPath !== null || driver.onDiskVersion !== null))
      return { cannotTell: `a driver is installed, and the kernel log could not be read: ${reasonInWords(unlogged)}` };
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
