import { z } from 'zod';
import { ContainerdConfig } from '../containerd/fact.ts';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

export const K3sFact = z.object({
  installed: z.boolean(),
  version: z.string().nullable(),
  role: z.enum(['server', 'agent']).nullable(),
  /** k3s.service or k3s-agent.service. */
  unit: UnitState.nullable(),
  /** `default-runtime` of config.yaml and config.yaml.d, last one wins. */
  defaultRuntimeSetting: z.string().nullable(),
  configFiles: z.array(ConfigFile),
  /** User templates that exist: config.toml.tmpl, config-v3.toml.tmpl. */
  templates: z.array(ConfigFile),
  /** The config.toml that k3s rendered at its last start. */
  renderedFile: ConfigFile,
  rendered: ContainerdConfig.nullable(),
  /** `k3s crictl info`; null when it did not answer: see `partial`. */
  live: z.object({ runtimes: z.array(RuntimeEntry), defaultRuntime: z.string().nullable() }).nullable(),
});
export type K3sFact = z.infer<typeof K3sFact>;
