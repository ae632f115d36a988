import { z } from 'zod';
import { ConfigFile, UnitState } from '../fact.ts';

export const CdiSpec = z.object({
  file: ConfigFile,
  /** Folder as an engine names it. */
  dir: z.string(),
  /** `vendor/class`: nvidia.com/gpu. */
  kind: z.string().nullable(),
  cdiVersion: z.string().nullable(),
  /** Fully qualified: nvidia.com/gpu=0 … */
  devices: z.array(z.string()),
  /** Driver versions in the names of the libraries and firmware that it mounts (libcuda.so.580.95.05). */
  driverVersions: z.array(z.string()),
  /** Host paths and device nodes that it names and that are not there. */
  missingPaths: z.array(z.string()),
  /** How many of the paths that it names were looked at, and how many it names. */
  checkedPaths: z.int(),
  namedPaths: z.int(),
});
export type CdiSpec = z.infer<typeof CdiSpec>;

export const CdiReader = z.enum(['docker', 'containerd', 'podman', 'toolkit', 'k3s', 'rke2', 'microk8s', 'crio']);

export const CdiFact = z.object({
  /** Later ones win. The two that every engine knows, and those that an engine's configuration names. */
  specDirs: z.array(
    z.object({
      path: z.string(),
      present: z.boolean(),
      /** Where it is once links are followed: /run/cdi for /var/run/cdi. */
      realPath: z.string(),
    }),
  ),
  specs: z.array(CdiSpec),
  /** Same device twice within one folder: it vanishes. */
  conflicts: z.array(z.object({ device: z.string(), files: z.array(z.string()) })),
  /** Devices that an engine sees which reads all of `specDirs`. */
  devices: z.array(z.string()),
  /** What each engine that is here reads, as its configuration or its live answer says; null: CDI is off there. */
  readers: z.array(
    z.object({
      engine: CdiReader,
      dirs: z.array(z.string()).nullable(),
      /** Of podman, which has no fact of its own: where its program was found. */
      program: z.string().optional(),
    }),
  ),
  /** Files beside the specs whose ending no engine reads: only .yaml and .json count. */
  ignoredFiles: z.array(z.string()),
  refresh: z.object({
    service: UnitState.nullable(),
    path: UnitState.nullable(),
    /** What nvidia-cdi-refresh.env sets; null: there is no such file, or it could not be read (`partial`). */
    settings: z.record(z.string(), z.string()).nullable().optional(),
  }),
});
export type CdiFact = z.infer<typeof CdiFact>;
