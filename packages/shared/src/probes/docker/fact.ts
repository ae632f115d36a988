import { z } from 'zod';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

export const DockerFact = z.object({
  installed: z.boolean(),
  /** Path of the dockerd found; /snap/… means the snap. */
  binary: z.string().nullable(),
  unit: UnitState.nullable(),
  /** daemon.json of this dockerd (the snap's is elsewhere). */
  configFile: ConfigFile,
  /** What the file says; null when it is absent or broken. */
  config: z
    .object({
      runtimes: z.array(RuntimeEntry),
      defaultRuntime: z.string().nullable(),
      cdi: z.boolean().nullable(),
      dataRoot: z.string().nullable(),
      liveRestore: z.boolean().nullable(),
    })
    .nullable(),
  /** What the live daemon says (`docker info`); null when it did not answer: see `partial`. */
  live: z
    .object({
      version: z.string().nullable(),
      runtimes: z.array(z.string()),
      defaultRuntime: z.string().nullable(),
      cgroupDriver: z.string().nullable(),
      cdiSpecDirs: z.array(z.string()),
      dataRoot: z.string().nullable(),
      rootless: z.boolean(),
      containersRunning: z.int().nullable(),
    })
    .nullable(),
});
export type DockerFact = z.infer<typeof DockerFact>;
