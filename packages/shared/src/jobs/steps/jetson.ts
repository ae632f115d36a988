import { z } from 'zod';
import { quiet, type StepKind } from './step-kind.ts';

/** The mode of a Jetson's clocks, cores and power, by its number in the board's own table. */
export const SetPowerMode = z.object({
  do: z.literal('set_power_mode'),
  from: z.int(),
  to: z.int(),
  /** Parts of the GPU are switched on or off, which only a boot can do: the mode is noted for the next one. */
  atBoot: z.boolean(),
});
export type SetPowerMode = z.infer<typeof SetPowerMode>;

export const jetsonSteps: { set_power_mode: StepKind<SetPowerMode> } = {
  set_power_mode: {
    ...quiet,
    subject: ({ to, atBoot }) => `mode ${to}${atBoot ? ' at the next boot' : ''}`,
    leavesFile: ({ atBoot }) => atBoot,
    inverse: (step) => [{ ...step, from: step.to, to: step.from }],
  },
};
