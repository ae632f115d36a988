import { z } from 'zod';

/** NVIDIA functions of class 03xx (display, 3D) on the PCI bus, and who holds each. */
export const PciFact = z.object({
  gpus: z.array(
    z.object({
      /** Domain:bus:device.function as sysfs spells it, e.g. `0000:65:00.0`. */
      address: z.string(),
      /** Lower-case hex without 0x. */
      vendorId: z.string(),
      deviceId: z.string(),
      classCode: z.string(),
      /** Name of the kernel driver bound to it, or null. */
      driver: z.string().nullable(),
    }),
  ),
});
export type PciFact = z.infer<typeof PciFact>;
