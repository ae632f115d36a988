import { z } from 'zod';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** A containerd configuration after its imports were merged. */
export const ContainerdConfig = z.object({
  /** Schema: 1 when the file has no `version`. */
  schema: z.int(),
  imports: z.array(z.string()),
  disabledPlugins: z.array(z.string()),
  runtimes: z.array(RuntimeEntry),
  defaultRuntime: z.string().nullable(),
  enableCdi: z.boolean().nullable(),
});
export type ContainerdConfig = z.infer<typeof ContainerdConfig>;

/** One file as it stands, before any merge: a job must know which file holds what it has to change. */
export const ContainerdLayer = z.object({
  path: z.string(),
  /** As stated; null without a `version` key, which means schema 1. */
  version: z.int().nullable(),
  /** Blank, or only comments. */
  empty: z.boolean(),
  /** It has a section of the CRI plugin under the name that its schema uses. Before 2.1 the last such file wins whole. */
  hasCri: z.boolean(),
  /** Of that section alone. */
  runtimes: z.array(RuntimeEntry),
  defaultRuntime: z.string().nullable(),
  enableCdi: z.boolean().nullable(),
  disabledPlugins: z.array(z.string()),
});
export type ContainerdLayer = z.infer<typeof ContainerdLayer>;

/** The host's own containerd (not the one that k3s, rke2 or microk8s bring: see their facts). */
export const ContainerdFact = z.object({
  installed: z.boolean(),
  binary: z.string().nullable(),
  /** From `containerd --version`. */
  version: z.string().nullable(),
  unit: UnitState.nullable(),
  /** Root file first, then each imported file in the order merged. */
  files: z.array(ConfigFile),
  /** The readable ones of `files`, in the same order; absent from agents that do not tell yet. */
  layers: z.array(ContainerdLayer).optional(),
  /** The root file alone, as written (plugin names of every schema); null when absent or broken. */
  rootConfig: ContainerdConfig.nullable(),
  /**
   * What this containerd version runs with: its built-in runc, root and imports, by its own rules of merging; null
   * when it would refuse to start or a file was not read (see `partial`), or when containerd is not installed.
   */
  effective: ContainerdConfig.nullable(),
  /** What the live daemon says (`crictl info` or `ctr plugins ls`); null when it did not answer: see `partial`. */
  live: z
    .object({
      /** The CRI plugin loaded. */
      criReady: z.boolean(),
      /** null when only `ctr` is there, which cannot tell. */
      runtimes: z.array(RuntimeEntry).nullable(),
      defaultRuntime: z.string().nullable(),
    })
    .nullable(),
});
export type ContainerdFact = z.infer<typeof ContainerdFact>;
