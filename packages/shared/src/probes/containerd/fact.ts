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
  /** Of a file: as stated. Of an effective configuration: with the release's own default; null before 1.7. */
  enableCdi: z.boolean().nullable(),
  /** Where CDI specs are looked for; null: not stated, or a release without CDI; absent from agents that do not tell yet. */
  cdiSpecDirs: z.array(z.string()).nullable().optional(),
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
  /** Without these the daemon does not start; absent from agents that do not tell yet. */
  requiredPlugins: z.array(z.string()).optional(),
  /** Patterns that this file itself imports; absent from agents that do not tell yet. */
  imports: z.array(z.string()).optional(),
  /** As stated in that section; null: it does not. */
  cdiSpecDirs: z.array(z.string()).nullable().optional(),
  /** Names of all plugins that have a section; absent from agents that do not tell yet. */
  plugins: z.array(z.string()).optional(),
  /** Runtimes under the plugin names of other schemas; absent from agents that do not tell yet. */
  misplaced: z.array(z.string()).optional(),
  /** Program of a `default_runtime` table or of `plugins.linux`, which newer releases pass over; absent as above. */
  legacyRuntime: z.string().nullable().optional(),
});
export type ContainerdLayer = z.infer<typeof ContainerdLayer>;

/** One containerd of this host: a process, or a program on the disk that does not run. */
export const ContainerdInstance = z.object({
  /** Who brought it: the host itself, dockerd as its child, a distribution of Kubernetes, or a container around it. */
  of: z.enum(['host', 'docker', 'k3s', 'rke2', 'microk8s', 'container']),
  running: z.boolean(),
  pid: z.int().nullable(),
  /** The program's file; null where it may not be told. */
  binary: z.string().nullable(),
  /** The file was replaced since the process started: `version` is what a restart would run. */
  replaced: z.boolean(),
  /** By the program itself, where it lies in a folder of the system; null: not asked, or no answer. */
  version: z.string().nullable(),
  /** The systemd unit that it runs in, by its control group. */
  unit: z.string().nullable(),
  configPath: z.string(),
  /** The socket, without a scheme; null where its configuration could not be read and its command line is silent. */
  address: z.string().nullable(),
  /** Where images and containers are kept; null as above. */
  root: z.string().nullable(),
  /** Of running ones that the host brings: what their files come to. null: not derived, or it would not start. */
  effective: ContainerdConfig.nullable(),
});
export type ContainerdInstance = z.infer<typeof ContainerdInstance>;

/** A configuration with runtimes in it, beside those that are read: no `imports` pattern leads to it. */
export const UnmatchedFile = z.object({
  file: ConfigFile,
  version: z.int().nullable(),
  runtimes: z.array(RuntimeEntry),
  defaultRuntime: z.string().nullable(),
});
export type UnmatchedFile = z.infer<typeof UnmatchedFile>;

/** The host's own containerd (what k3s, rke2 or microk8s bring is in `instances`: their facts have the rest). */
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
      /** null: it did not say. */
      enableCdi: z.boolean().nullable().optional(),
      cdiSpecDirs: z.array(z.string()).nullable().optional(),
    })
    .nullable(),
  /** Every containerd of the host; the one that the fields above describe comes first. Absent: as with `layers`. */
  instances: z.array(ContainerdInstance).optional(),
  /** Files with runtimes beside the configuration that it does not read. Absent: as with `layers`. */
  unmatched: z.array(UnmatchedFile).optional(),
});
export type ContainerdFact = z.infer<typeof ContainerdFact>;
