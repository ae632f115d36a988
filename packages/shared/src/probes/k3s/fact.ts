import { z } from 'zod';
import { ContainerdConfig } from '../containerd/fact.ts';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** k3s, and rke2 which is made of the same parts: a containerd of its own, configured anew at each start. */
export const K3sFact = z.object({
  installed: z.boolean(),
  version: z.string().nullable(),
  role: z.enum(['server', 'agent']).nullable(),
  /** The unit of this role: k3s.service or k3s-agent.service, rke2-server.service or rke2-agent.service. */
  unit: UnitState.nullable(),
  /** Where it keeps its data, by the unit's flags, its environment and its settings; null when it is not installed. */
  dataDir: z.string().nullable(),
  /** `default-runtime` of the unit's flags, config.yaml.d and config.yaml, first one wins. */
  defaultRuntimeSetting: z.string().nullable(),
  configFiles: z.array(ConfigFile),
  /** User templates that exist: config-v3.toml.tmpl, config.toml.tmpl; `error`: why the next start with it will fail. */
  templates: z.array(ConfigFile),
  /** The config.toml that was rendered at the last start. */
  renderedFile: ConfigFile,
  rendered: ContainerdConfig.nullable(),
  /** The folder of containerd drop-ins that the rendered file imports; null: this release reads none. */
  dropInFolder: z.string().nullable(),
  /** Folders that are searched for runtimes at a start, first one first. */
  searchPath: z.array(z.string()),
  /** What a start at this moment would find there, one for each handler. */
  runtimesFound: z.array(z.object({ handler: z.string(), path: z.string(), mtimeMs: z.number().nullable() })),
  /** Its last fatal lines in the journal of this boot, oldest first; null: it runs, and was not asked. */
  lastFatal: z.array(z.string()).nullable(),
  /** `crictl info`; null when it did not answer: see `partial`. */
  live: z.object({ runtimes: z.array(RuntimeEntry), defaultRuntime: z.string().nullable() }).nullable(),
});
export type K3sFact = z.infer<typeof K3sFact>;
