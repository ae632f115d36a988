import { z } from 'zod';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** CRI-O: its configuration as it merges it, and what the live daemon runs with. */
export const CrioFact = z.object({
  installed: z.boolean(),
  /** From `crio --version`. */
  version: z.string().nullable(),
  unit: UnitState.nullable(),
  /** crio.conf, then what lies in crio.conf.d, in the order merged. */
  files: z.array(ConfigFile),
  /** Handlers of all files together with the built-in one; of an entry that is stated twice the later file's. */
  runtimes: z.array(RuntimeEntry),
  defaultRuntime: z.string().nullable(),
  cgroupManager: z.string().nullable(),
  cdiSpecDirs: z.array(z.string()).nullable(),
  /** Files in /etc/crio/conf.d, into which some tools write and which CRI-O never reads. */
  unreadDropIns: z.array(z.string()),
  /** Names of the handlers that those files would bring. */
  unreadRuntimes: z.array(z.string()),
  /** `crio status config`; null when it did not answer: see `partial`. */
  live: z.object({ runtimes: z.array(RuntimeEntry), defaultRuntime: z.string().nullable() }).nullable(),
});
export type CrioFact = z.infer<typeof CrioFact>;
