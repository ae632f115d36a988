import { isStep } from './plan-parts.ts';
import type { Disruption, Step } from './step.ts';

/** One line for people: `edit_file /etc/docker/daemon.json`. */
export function stepTitle(step: Step): string {
  if (step.do === 'edit_file' || step.do === 'restore_file') return `${step.do} ${step.path}`;
  if (step.do === 'set_mig_mode') return `${step.do} ${step.gpuUuid} ${step.to}`;
  return `${step.do} ${step.unit}`;
}

const worstFirst = ['reboots', 'resets_gpu', 'restarts_containers', 'restarts_runtime', 'none'] as const;

/** The worst that these steps do, which can be less than the worst of the job's kind. */
export function disruptionOfPlan(steps: readonly Step[]): Disruption {
  const found = steps.map(disruptionOf);
  return worstFirst.find((disruption) => found.includes(disruption)) ?? 'none';
}

function disruptionOf(step: Step): Disruption {
  if (step.do === 'set_mig_mode') return 'resets_gpu';
  // Containers of docker end with their daemon; those of containerd and k3s live in shims.
  if (isStep(step, 'restart_unit') || isStep(step, 'stop_unit'))
    return step.unit === 'docker.service' ? 'restarts_containers' : 'restarts_runtime';
  return 'none';
}

export function restartsOfPlan(steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap((step) => (step.do === 'restart_unit' ? [step.unit] : [])))];
}
