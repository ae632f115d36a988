import { z } from 'zod';
import { ContainerdConfig } from '../containerd/fact.ts';
import { ConfigFile, RuntimeEntry, UnitState } from '../fact.ts';

/** MicroK8s from its snap: a containerd of its own, whose configuration is made from a template at each start. */
export const MicroK8sFact = z.object({
  installed: z.boolean(),
  version: z.string().nullable(),
  role: z.enum(['server', 'agent']).nullable(),
  /** snap.microk8s.daemon-containerd.service. */
  unit: UnitState.nullable(),
  /** The template that people and add-ons edit. */
  template: ConfigFile,
  /** Runtimes as the template has them: the next start makes them those of containerd. */
  templateConfig: ContainerdConfig.nullable(),
  /** What was made from it at the last start. */
  renderedFile: ConfigFile,
  rendered: ContainerdConfig.nullable(),
  /** `crictl info`, where the host has a crictl: MicroK8s brings none; null when it did not answer: see `partial`. */
  live: z.object({ runtimes: z.array(RuntimeEntry), defaultRuntime: z.string().nullable() }).nullable(),
});
export type MicroK8sFact = z.infer<typeof MicroK8sFact>;
