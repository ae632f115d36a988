import { z } from 'zod';
import { ConfigFile } from '../fact.ts';

/** What one kernel on the disk has. */
export const KernelModules = z.object({
  /** As `uname -r` prints it. */
  kernel: z.string(),
  running: z.boolean(),
  /** NVIDIA's modules there, in the names of /proc/modules: nvidia, nvidia_uvm, nvidia_modeset … */
  modules: z.array(z.string()),
  /** Folder of the first of them. */
  folder: z.string().nullable(),
  /** /lib/modules/KERNEL/build leads to headers to build modules with; null: not known. */
  headers: z.boolean().nullable(),
});
export type KernelModules = z.infer<typeof KernelModules>;

/** One line of modprobe's configuration, or one word of the kernel's command line, that concerns NVIDIA's GPUs. */
export const ModprobeSetting = z.object({
  file: z.string(),
  line: z.int(),
  /** `kernel_blacklist`: the kernel itself refuses the module (`module_blacklist=`), whoever asks for it. */
  directive: z.enum(['blacklist', 'install', 'alias', 'options', 'softdep', 'kernel_blacklist']),
  /** In the spelling of /proc/modules. */
  module: z.string(),
  /** The line or word as written, at most 200 characters. */
  text: z.string(),
});
export type ModprobeSetting = z.infer<typeof ModprobeSetting>;

export const DkmsEntry = z.object({
  /** Name in DKMS: nvidia, nvidia-current … */
  name: z.string(),
  version: z.string(),
  /** null: added, built for no kernel. */
  kernel: z.string().nullable(),
  state: z.enum(['added', 'built', 'installed']),
  /** A build that failed leaves its log. */
  failedLog: z.string().nullable(),
});
export type DkmsEntry = z.infer<typeof DkmsEntry>;

/** What the next boot loads because a file says so; the kernel loads `nvidia` by the device besides, and nothing else. */
export const BootModules = z.object({
  /** modules-load.d and /etc/modules. */
  modules: z.array(z.object({ module: z.string(), file: z.string() })),
  /** Rules of udev that link the GPUs' nodes in /dev/char. */
  linkRules: z.array(z.string()),
  /** The files that are gpufleet's own. */
  ownModulesFile: ConfigFile,
  ownLinkRule: ConfigFile,
});
export type BootModules = z.infer<typeof BootModules>;

export const DriverFact = z.object({
  /** /proc/modules names nvidia, nvidia_uvm, nouveau, nvgpu … those that matter. */
  modules: z.array(z.string()),
  /** Version of the loaded module: /proc/driver/nvidia/version. */
  loadedVersion: z.string().nullable(),
  flavour: z.enum(['open', 'proprietary', 'nvgpu']).nullable(),
  /**
   * `modinfo -F version nvidia` for the running kernel: what the next load would bring. null and not in `partial`:
   * there is no such module for this kernel.
   */
  onDiskVersion: z.string().nullable(),
  /** From the file name that libnvidia-ml.so.1 leads to. */
  libraryVersion: z.string().nullable(),
  /** Where that library is, or null. */
  libraryPath: z.string().nullable(),
  /** nvidia-smi is on the host. */
  hasNvidiaSmi: z.boolean(),
  /** The running kernel, and every kernel below /lib/modules. */
  runningKernel: z.string().nullable(),
  kernels: z.array(KernelModules),
  /** Absent from agents that do not tell it yet. */
  boot: BootModules.optional(),
  dkms: z.array(DkmsEntry),
  modprobe: z.array(ModprobeSetting),
  /** GSP firmware by GPU, from the driver's own files; version null: the GPU runs without. */
  gspFirmware: z.array(z.object({ address: z.string(), version: z.string().nullable() })),
  /** libnvidia-ml in roots that the host's loader does not search: a driver container's, GKE's, NixOS's. */
  otherLibraries: z.array(z.object({ root: z.string(), path: z.string(), version: z.string().nullable() })),
  /** Folders with CUDA's forward-compatibility libraries: they say nothing of the host's own driver. */
  compatFolders: z.array(z.string()),
});
export type DriverFact = z.infer<typeof DriverFact>;
