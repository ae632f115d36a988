import { z } from 'zod';

/** One package that matters to a GPU host. */
export const HostPackage = z.object({
  name: z.string(),
  version: z.string(),
  arch: z.string().nullable(),
  /** What it belongs to, by its name. */
  group: z.enum(['driver', 'kernel', 'toolkit', 'docker', 'containerd', 'kubernetes', 'jetson', 'keyring']),
  /** dpkg's status in lower case (installed, half-configured, unpacked, …); rpm knows only installed. */
  state: z.string(),
  /** `apt-mark hold` or dnf's versionlock. */
  held: z.boolean(),
});
export type HostPackage = z.infer<typeof HostPackage>;

export const PackageRepository = z.object({
  /** Where it is written: file and, for one-line entries and stanzas, the line it begins on. */
  file: z.string(),
  line: z.int(),
  /** Without user and password. */
  uri: z.string(),
  /** Distribution or suite; null for rpm. */
  suite: z.string().nullable(),
  enabled: z.boolean(),
  /** Path of the keyring, or `inline` for a key in the entry; null: none is named. For rpm: gpgkey. */
  signedBy: z.string().nullable(),
  isNvidia: z.boolean(),
});
export type PackageRepository = z.infer<typeof PackageRepository>;

export const PackagesFact = z.object({
  manager: z.enum(['dpkg', 'rpm']).nullable(),
  packages: z.array(HostPackage),
  /** Any package of the host (not only those above) that is not properly installed: name, state as printed. */
  broken: z.array(z.object({ name: z.string(), state: z.string() })),
  /** dpkg was ended in the middle of its work: its journal in /var/lib/dpkg/updates is not empty. */
  interrupted: z.boolean().nullable(),
  repositories: z.array(PackageRepository),
  /** Every file that names repositories, or could: what a job would change. Absent from agents that do not tell yet. */
  repositoryFiles: z.array(z.object({ path: z.string(), sha256: z.string() })).optional(),
  /**
   * Keyrings that NVIDIA's repositories name, and those that apt trusts for every repository. keyIds: long ids, upper
   * case; null = not readable as a keyring.
   */
  keyrings: z.array(z.object({ path: z.string(), present: z.boolean(), keyIds: z.array(z.string()).nullable() })),
  /** A package manager runs right now (it holds a lock). null: cannot be told. */
  busy: z.boolean().nullable(),
  /** /run/reboot-required is there: packages that asked for a reboot; empty when unnamed, null when no reboot is asked. */
  rebootRequiredBy: z.array(z.string()).nullable(),
  /** NVIDIA's .run installer left its uninstaller: /usr/bin/nvidia-uninstall. */
  driverInstalledByRunfile: z.boolean(),
  /** The system is an image (ostree): packages are layered, and package managers refuse to work on it. */
  imageBased: z.boolean().optional(),
});
export type PackagesFact = z.infer<typeof PackagesFact>;
