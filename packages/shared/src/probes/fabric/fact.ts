import { z } from 'zod';
import { UnitState } from '../fact.ts';

export const NvLink = z.object({
  /** As in the fact `gpus`. */
  gpu: z.int(),
  link: z.int(),
  /** A link that no board wires is inactive as well as one that is broken. */
  active: z.boolean(),
  gigabytesPerSecond: z.number().nullable(),
});

/** What joins the GPUs of one machine: NVSwitches, who manages them, and the state of GPUs and links. */
export const FabricFact = z.object({
  /** PCI addresses of NVSwitches. Those of Blackwell boards are not on the PCI bus. */
  nvswitches: z.array(z.string()),
  /** A GPU that reaches its switches by NVLink 5: managing them takes an InfiniBand stack. null: no report of GPUs. */
  nvlink5: z.boolean().nullable(),
  managerVersion: z.string().nullable(),
  /** null: systemd knows no such unit, or was not asked. */
  managerUnit: UnitState.nullable(),
  gpus: z.array(z.object({ uuid: z.string().nullable(), state: z.string().nullable(), status: z.string().nullable() })),
  nvlinks: z.array(NvLink).nullable(),
  /** Of the modules that an NVLink 5 fabric needs, those that are loaded. */
  infinibandModules: z.array(z.string()),
});
export type FabricFact = z.infer<typeof FabricFact>;
