import { z } from 'zod';

/** NVIDIA functions of class 03xx (display, 3D) on the PCI bus, and who holds each. */
export const PciGpu = z.object({
  /** Domain:bus:device.function as sysfs spells it, e.g. `0000:65:00.0`. */
  address: z.string(),
  /** Lower-case hex without 0x. */
  vendorId: z.string(),
  deviceId: z.string(),
  classCode: z.string(),
  /** Name of the kernel driver bound to it, or null. */
  driver: z.string().nullable(),
  /** Only this driver may bind to it (`driver_override`), or null. */
  driverOverride: z.string().nullable(),
  /** The configuration space reads all ones: the function does not answer any more. null: not read. */
  configDead: z.boolean().nullable(),
});
export type PciGpu = z.infer<typeof PciGpu>;

export const PciFact = z.object({
  gpus: z.array(PciGpu),
  /** NVIDIA bridges of class 0680: NVSwitch functions. */
  nvswitches: z.array(z.object({ address: z.string(), deviceId: z.string(), driver: z.string().nullable() })),
  /** `vendor:device` that the kernel's command line reserves for virtual machines (vfio-pci.ids, pci-stub.ids). */
  passthroughIds: z.array(z.string()),
  /** Words of the kernel's command line that set the IOMMU, as written. */
  iommuOptions: z.array(z.string()),
});
export type PciFact = z.infer<typeof PciFact>;
