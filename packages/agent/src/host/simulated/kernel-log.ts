import { type Machine, nowMs, uptimeMs } from './machine.ts';

/** A message of the kernel; one that goes over several lines is one record with line ends in it. */
export interface KernelRecord {
  boot: string;
  seconds: number;
  text: string;
}

const said = new WeakMap<Machine, KernelRecord[]>();

/** The kernel prints something, now or at the moment of the past that is being made. */
export function printk(machine: Machine, ...texts: string[]): void {
  const agoMs = machine.clock.nowMs() - nowMs(machine);
  const seconds = Math.max(0, uptimeMs(machine) - agoMs) / 1000;
  const before = said.get(machine) ?? [];
  said.set(machine, [...before, ...texts.map((text) => ({ boot: machine.boot.id, seconds, text }))]);
}

/** Takes back what a fault made the kernel print, where a repair stands for a fresh start. */
export function unsay(machine: Machine, isMeant: (text: string) => boolean): void {
  said.set(
    machine,
    (said.get(machine) ?? []).filter(({ text }) => !isMeant(text)),
  );
}

/** Whether the kernel said so in this boot. */
export function hasSaid(machine: Machine, isMeant: (text: string) => boolean): boolean {
  return (said.get(machine) ?? []).some(({ boot, text }) => boot === machine.boot.id && isMeant(text));
}

/** The log of this boot, oldest first. */
export function kernelRecords(machine: Machine): KernelRecord[] {
  const since = (said.get(machine) ?? []).filter(({ boot }) => boot === machine.boot.id);
  return [...bootRecords(machine), ...since].sort((a, b) => a.seconds - b.seconds);
}

function bootRecords(machine: Machine): KernelRecord[] {
  const { os } = machine;
  const x86 = os.arch === 'x86_64';
  const jitter = machine.random.int(`dmesg/${machine.boot.count}`, 900) / 1000;
  const early = [
    `Linux version ${os.kernel} (builder@example.com) (gcc (GCC) 12.3.0, GNU ld (GNU Binutils) 2.38) #1 SMP`,
    x86
      ? `Command line: BOOT_IMAGE=/boot/vmlinuz-${os.kernel} root=/dev/mapper/vg0-root ro quiet`
      : 'Machine model: NVIDIA Jetson',
    x86 ? 'BIOS-provided physical RAM map:' : 'efi: EFI v2.70 by EDK II',
    x86 ? 'BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable' : 'OF: reserved mem: initialized node grid',
    x86 ? 'ACPI: RSDP 0x00000000000F05B0 000024 (v02 ALASKA)' : 'psci: PSCIv1.1 detected in firmware.',
    'Calibrating delay loop (skipped), value calculated using timer frequency..',
  ];
  const late: [number, string][] = [
    [0.4, 'PCI host bridge to bus 0000:00'],
    [1.2, 'systemd[1]: Inserted module autofs4'],
    [2.6, 'EXT4-fs (dm-0): mounted filesystem with ordered data mode. Quota mode: none.'],
    ...moduleRecords(machine),
    [15.1, 'IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready'],
    [19.7, 'bridge: filtering via arp/ip/ip6tables is no longer available by default.'],
    [20.3, 'overlayfs: null uuid detected in lower fs, falling back to xino=off,index=off,nfs_export=off.'],
  ];
  const boot = machine.boot.id;
  return [
    ...early.map((text) => ({ boot, seconds: 0, text })),
    ...late.map(([seconds, text]) => ({ boot, seconds: seconds + jitter, text })),
  ];
}

/** What NVIDIA's modules print when they are loaded; on an Orin the GPU's driver is another one. */
function moduleRecords({ driver, gpus, os }: Machine): [number, string][] {
  if (!driver?.loaded) return [];
  const version = driver.loaded;
  const kind = driver.flavour === 'open' ? `Open Kernel Module for ${os.arch}` : `${os.arch} Kernel Module`;
  const release = '  Release Build  (builder@example.com)  Thu Apr 24 00:00:00 UTC 2025';
  const devices = gpus.flatMap(({ busId, model }): [number, string][] => {
    if (busId === 'N/A') return [[5.2, '17000000.gpu: Adding to iommu group 5']];
    const address = busId.slice(4).toLowerCase();
    return [
      [5.4, `nvidia ${address}: enabling device (0000 -> 0002)`],
      [9.2, `[drm] Initialized nvidia-drm 0.0.0 for ${address} on minor ${model.kind === 'thor' ? 0 : 1}`],
    ];
  });
  return [
    [5.1, 'nvidia: loading out-of-tree module taints kernel.'],
    [5.1, 'nvidia: module license taints kernel.'],
    [5.3, 'nvidia-nvlink: Nvlink Core is being initialized, major device number 509'],
    ...devices,
    [5.5, `NVRM: loading NVIDIA UNIX ${kind}  ${version}${release}`],
    [
      8.9,
      `nvidia-modeset: Loading NVIDIA UNIX ${kind.replace('Kernel Module', 'Kernel Mode Setting Driver')}  ${version}${release}`,
    ],
    [9.0, '[drm] [nvidia-drm] [GPU ID 0x00001000] Loading driver'],
  ];
}
