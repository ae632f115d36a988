import { z } from 'zod';

/** What a kernel line says, as a closed list; a line that none of them fits is not kept. */
export const KernelEventKind = z.enum([
  'xid',
  'sxid',
  'fell_off_bus',
  'init_failed',
  'gfw_boot_failed',
  'unsupported_branch',
  'needs_open_modules',
  'gpu_without_gsp',
  'module_rejected',
  'probe_not_called',
  'avc_denied',
  'oom_kill',
  'inforom_corrupt',
  'module_loaded',
  'gpu_reset',
  'version_mismatch',
]);
export type KernelEventKind = z.infer<typeof KernelEventKind>;

export const KernelEvent = z.object({
  kind: KernelEventKind,
  /** PCI address in sysfs form (0000:b3:00.0), where the line names one. */
  address: z.string().nullable(),
  /** Number of an Xid, or of an NVSwitch's SXid. */
  xid: z.int().nullable(),
  /** Of the first of equal events. */
  pid: z.int().nullable(),
  process: z.string().nullable(),
  /**
   * What sets it apart from others of its kind: the recovery action that Xid 154 names, `Fatal` of an SXid, the code
   * of a failed initialisation, the branch that still supports the GPU, flavour and version of a module that was
   * loaded (`open 580.95.05`), what SELinux denied (`read write nvidiactl: container_t -> device_t`).
   */
  detail: z.string().nullable(),
  /** The message (joined, if it went over several lines) without what is printed before it, at most 400 characters. */
  line: z.string(),
  /** Of equal events (kind, address, xid, process, detail) between two loads of the module or resets of a GPU: how many. */
  count: z.int(),
  /** Seconds since boot of the first and of the last; null without such time stamps. */
  firstSeconds: z.number().nullable(),
  lastSeconds: z.number().nullable(),
});
export type KernelEvent = z.infer<typeof KernelEvent>;

export const KernelLogFact = z.object({
  /** Of this boot only, in the order in which each was first seen. */
  events: z.array(KernelEvent),
  /** Who was asked; null: a text that somebody handed in. */
  from: z.enum(['journal', 'ring_buffer']).nullable(),
  /** False: the log's beginning is gone (ring buffer overwritten), older events of this boot are not known. */
  beginsAtBoot: z.boolean().nullable(),
});
export type KernelLogFact = z.infer<typeof KernelLogFact>;
