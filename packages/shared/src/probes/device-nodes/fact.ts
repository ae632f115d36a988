import { z } from 'zod';

export const DeviceNode = z.object({
  path: z.string(),
  major: z.int(),
  minor: z.int(),
  /** Permission bits, e.g. 0o666. */
  mode: z.int(),
  uid: z.int(),
  gid: z.int(),
  /** Name of the group in /etc/group, or null. */
  group: z.string().nullable(),
});
export type DeviceNode = z.infer<typeof DeviceNode>;

export const DeviceNodesFact = z.object({
  /** /dev/nvidia*, /dev/nvidia-caps/*, /dev/nvmap, /dev/nvhost-*, /dev/dri/*, /dev/dxg as they were before any nvidia-smi ran. */
  nodes: z.array(DeviceNode),
  /** Majors by the name in /proc/devices: nvidia, nvidia-uvm, nvidia-caps, nvidia-frontend … */
  majors: z.record(z.string(), z.int()),
  /** /dev/char/<major>:<minor> links that lead to nodes above. */
  charLinks: z.array(z.object({ path: z.string(), target: z.string() })),
  /** What the loaded module says of each GPU: `Device Minor`, and whether it leaves the GPU out on demand. */
  gpuMinors: z.array(z.object({ address: z.string(), minor: z.int().nullable(), excluded: z.boolean() })),
});
export type DeviceNodesFact = z.infer<typeof DeviceNodesFact>;
