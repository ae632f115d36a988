import { z } from 'zod';
import { ConfigFile } from '../fact.ts';

/** config.toml with the toolkit's defaults applied. */
export const ToolkitConfig = z.object({
  mode: z.string(),
  runtimes: z.array(z.string()),
  noCgroups: z.boolean(),
  /** `root` as stated; null: the host's own. */
  driverRoot: z.string().nullable(),
  ldconfig: z.string().nullable(),
  disableRequire: z.boolean(),
  acceptEnvvarWhenUnprivileged: z.boolean(),
  acceptVolumeMounts: z.boolean(),
  logLevel: z.string(),
  cdiSpecDirs: z.array(z.string()),
});
export type ToolkitConfig = z.infer<typeof ToolkitConfig>;

/** What is at the driver root that a config.toml names; null: it names none, or the host's own. */
export const DriverRootState = z.enum(['present', 'empty', 'missing']).nullable();

/** A configuration beside that of the system: the GPU operator's, or a user's with an engine of his own. */
export const OtherToolkitConfig = z.object({
  scope: z.enum(['operator', 'user']),
  /** Of the user; null for the operator. */
  uid: z.int().nullable(),
  file: ConfigFile,
  config: ToolkitConfig,
  /** Which of them the file states; the others are the toolkit's defaults. Absent from agents that do not tell yet. */
  stated: z.array(ToolkitConfig.keyof()).optional(),
  driverRootState: DriverRootState,
});
export type OtherToolkitConfig = z.infer<typeof OtherToolkitConfig>;

/** Optional fields: absent from agents that do not tell them yet. */
export const ToolkitFact = z.object({
  /** Any of the toolkit's binaries was found. */
  installed: z.boolean(),
  /** From `nvidia-ctk --version`; null where that is not installed or does not say. */
  version: z.string().nullable(),
  binaries: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      mtimeMs: z.number().nullable(),
      /** As the program says it; null where it was not asked or does not say. */
      version: z.string().nullable().optional(),
    }),
  ),
  /** The newest list of files of those packages, which says when. */
  installedList: z.string().nullable().optional(),
  /** When the packages were unpacked here, whose programs keep the dates of their making; null: not known. */
  installedAtMs: z.number().nullable().optional(),
  configFile: ConfigFile,
  config: ToolkitConfig,
  /** Which of them the file states, as in `otherConfigs`. */
  stated: z.array(ToolkitConfig.keyof()).optional(),
  driverRootState: DriverRootState.optional(),
  otherConfigs: z.array(OtherToolkitConfig).optional(),
  /** Root here is an ordinary user of the machine outside (an unprivileged LXC guest): it cannot set device filters. */
  inUserNamespace: z.boolean().nullable().optional(),
});
export type ToolkitFact = z.infer<typeof ToolkitFact>;
