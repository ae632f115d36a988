/** sysfs prints `0x10de` and a newline; null for anything else. */
export function parsePciId(text: string): string | null {
  return /^0x([0-9a-f]{4,6})$/i.exec(text.trim())?.[1]?.toLowerCase() ?? null;
}

/** Display, 3D and other controllers that drive GPUs: audio and USB functions of a card are of other classes. */
export function isGpuClass(classCode: string): boolean {
  return classCode.startsWith('03');
}

/** `Bridge: other`, as NVSwitch is; root ports and PCI bridges are of other classes. */
export function isSwitchClass(classCode: string): boolean {
  return classCode.startsWith('0680');
}

/**
 * A function that has fallen off the bus reads as all ones. 0xff is no UTF-8, so that each becomes U+FFFD; of a living
 * NVIDIA function only the first byte of the vendor does (0xde), and the second is 0x10. null: nothing was read.
 */
export function isDeadConfig(text: string): boolean | null {
  return text.length < 4 ? null : /^\uFFFD+$/.test(text.slice(0, 4));
}

export interface PciOptions {
  passthroughIds: string[];
  iommuOptions: string[];
}

/** What the kernel's command line says of passing devices through. */
export function parsePciOptions(commandLine: string): PciOptions {
  const words = commandLine.split(/\s+/);
  const ids = words.flatMap((word) => /^(?:vfio[-_]pci|pci[-_]stub)\.ids=(.*)$/.exec(word)?.[1]?.split(',') ?? []);
  return {
    passthroughIds: ids.map(toId).filter((id) => id !== null),
    iommuOptions: words.filter((word) => /^(?:intel_iommu|amd_iommu|iommu)=\S/.test(word)),
  };
}

/** `10DE:2204` or with subsystem and class behind it. */
function toId(text: string): string | null {
  return /^([0-9a-f]{4}:[0-9a-f]{4})(?::|$)/i.exec(text)?.[1]?.toLowerCase() ?? null;
}
