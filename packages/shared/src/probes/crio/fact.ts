import { z } from 'zod';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** One file as it stands: a job must know which one counts for what it changes. */
export const CrioLayer = z.object({
  path: z.string(),
  runtimes: z.array(RuntimeEntry),
  /** As stated in this file. */
  defaultRuntime: z.string().nullable(),
});
export type CrioLayer = z.infer<typeof CrioLayer>;

/** A setting of a handler, as its file states it. */
const CrioSetting = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
export type CrioSetting = z.infer<typeof CrioSetting>;

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
  /** The readable ones of `files`, in the same order; absent from agents that do not tell yet. */
  layers: z.array(CrioLayer).optional(),
  /**
   * What the handler of ordinary containers (the default one, else runc or crun) states beside its program: where its
   * monitor is, what annotations it allows. A further handler needs the same. Absent: as with `layers`.
   */
  model: z
    .object({ name: z.string(), settings: z.record(z.string(), CrioSetting) })
    .nullable()
    .optional(),
  /** Files in /etc/crio/conf.d, into which some tools write and which CRI-O never reads. */
  unreadDropIns: z.array(z.string()),
  /** Names of the handlers that those files would bring. */
  unreadRuntimes: z.array(z.string()),
  /** `crio status config`; null when it did not answer: see `partial`. */
  live: z.object({ runtimes: z.array(RuntimeEntry), defaultRuntime: z.string().nullable() }).nullable(),
});
export type CrioFact = z.infer<typeof CrioFact>;
