import { z } from 'zod';

export const OsFact = z.object({
  /** `ID` of /etc/os-release: debian, ubuntu, rhel … */
  id: z.string().nullable(),
  versionId: z.string().nullable(),
  prettyName: z.string().nullable(),
  hostname: z.string().nullable(),
  /** /proc/sys/kernel/osrelease */
  kernel: z.string().nullable(),
  /** Machine name as `uname -m` prints it: x86_64, aarch64. */
  arch: z.string().nullable(),
  memoryTotalMiB: z.number().nullable(),
  cpuCount: z.int().nullable(),
  /** The agent itself runs inside a container. */
  insideContainer: z.boolean(),
  /**
   * What the host is, innermost first, in the words of `systemd-detect-virt`: lxc, docker, wsl, kvm, vmware, amazon …;
   * `none` for bare metal; null: not known.
   */
  virtualisation: z.string().nullable(),
  /** Root here is not root of the machine: the agent's user namespace is not the first one. */
  inUserNamespace: z.boolean().nullable(),
  /** The kernel takes signed modules only because firmware and shim check signatures; false without UEFI. */
  secureBoot: z.boolean().nullable(),
  /** Who said so: the firmware's variable, or mokutil where that cannot be read; null: neither (no UEFI, not known). */
  secureBootFrom: z.enum(['firmware', 'mokutil']).nullable().optional(),
  /** Kernel lockdown; null: this kernel has none, or does not show it. */
  lockdown: z.enum(['none', 'integrity', 'confidentiality']).nullable(),
  selinux: z.enum(['enforcing', 'permissive', 'disabled']).nullable(),
  /** Version of the control groups that hold processes here. */
  cgroupVersion: z.union([z.literal(1), z.literal(2)]).nullable(),
  /** A restart of the machine is scheduled for this moment (`shutdown -r`). */
  rebootScheduledAtMs: z.number().nullable(),
  /** The kernel's name for this boot. */
  bootId: z.string(),
  /** When this boot began, by the host's clock, in whole seconds. */
  bootedAtMs: z.number(),
});
export type OsFact = z.infer<typeof OsFact>;
