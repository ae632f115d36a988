import { type Disruption, kindOf, type Step } from './step.ts';

/** One line for people: `edit_file /etc/docker/daemon.json`. */
export function stepTitle(step: Step): string {
  return `${step.do} ${kindOf(step).subject(step)}`;
}

const worstFirst = ['reboots', 'resets_gpu', 'restarts_containers', 'restarts_runtime', 'none'] as const;

/** The worst that these steps do, which can be less than the worst of the job's kind. */
export function disruptionOfPlan(steps: readonly Step[]): Disruption {
  const found = steps.map((step) => kindOf(step).disruption(step));
  return worstFirst.find((disruption) => found.includes(disruption)) ?? 'none';
}

/** How long what the steps touch is expected to be away, in ms. */
export function downtimeOfPlan(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + kindOf(step).downtimeMs(step), 0);
}

export function restartsOfPlan(steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap((step) => (step.do === 'restart_unit' ? [step.unit] : [])))];
}

/** The steps can take away the network that the agent or a person reaches the host by. */
export function mayCutOff(steps: readonly Step[]): boolean {
  return steps.some((step) => kindOf(step).mayCutOff(step));
}

export function changesFile(step: Step): boolean {
  return fileSteps.has(step.do);
}

const fileSteps: ReadonlySet<Step['do']> = new Set([
  'edit_file',
  'write_file',
  'generate_cdi_spec',
  'fetch_key',
  'remove_file',
  'restore_file',
]);
