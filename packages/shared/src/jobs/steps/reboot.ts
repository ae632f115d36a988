import { z } from 'zod';
import type { StepKind } from './step-kind.ts';

/** The whole host. The attempt goes on after the boot: what came up again is for the verification to say. */
export const RebootHost = z.object({
  do: z.literal('reboot_host'),
  /** From the order until the agent is back. */
  timeoutMs: z.int(),
});
export type RebootHost = z.infer<typeof RebootHost>;

export const rebootSteps: { reboot_host: StepKind<RebootHost> } = {
  reboot_host: {
    subject: () => 'this host',
    phase: 'rebooting',
    disruption: () => 'reboots',
    downtimeMs: () => 180_000,
    mayCutOff: () => true,
    stays: true,
    inverse: () => [],
    // Modules, device nodes and GPU modes that a boot took from files come back with another boot only.
    again: (step, changesFiles) => (changesFiles ? step : null),
  },
};
