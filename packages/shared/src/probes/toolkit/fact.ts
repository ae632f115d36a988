import { z } from 'zod';
import { ConfigFile } from '../fact.ts';

export const ToolkitFact = z.object({
  /** Any of the toolkit's binaries was found. */
  installed: z.boolean(),
  /** From `nvidia-ctk --version`; null where that is not installed or does not say. */
  version: z.string().nullable(),
  binaries: z.array(z.object({ name: z.string(), path: z.string(), mtimeMs: z.number().nullable() })),
  configFile: ConfigFile,
  /** config.toml with the toolkit's defaults applied. */
  config: z.object({
    mode: z.string(),
    runtimes: z.array(z.string()),
    noCgroups: z.boolean(),
    driverRoot: z.string().nullable(),
    ldconfig: z.string().nullable(),
    disableRequire: z.boolean(),
    acceptEnvvarWhenUnprivileged: z.boolean(),
    acceptVolumeMounts: z.boolean(),
    logLevel: z.string(),
    cdiSpecDirs: z.array(z.string()),
  }),
});
export type ToolkitFact = z.infer<typeof ToolkitFact>;
