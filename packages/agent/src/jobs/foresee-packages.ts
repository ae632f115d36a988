import type { PlanReason, Step, StepOf } from '@gpufleet/shared/jobs';
import { createSystemClock } from '../clock.ts';
import type { Host } from '../host/host.ts';
import type { StepContext } from '../steps/executor.ts';
import { managers, toChange, whyNotThisChange } from '../steps/set-packages.ts';

/** What a transaction of packages would do beside what was asked, or that a version cannot be had. Changes nothing. */
export async function foreseePackages(host: Host, steps: readonly Step[]): Promise<PlanReason | null> {
  for (const [index, step] of steps.entries()) {
    // dnf fetches metadata before it answers: that is for the step itself.
    if (step.do !== 'set_packages' || step.manager !== 'apt') continue;
    const listsAreOld = steps.slice(0, index).some((earlier) => earlier.do === 'refresh_package_lists');
    const objection = await objectionTo(host, step, listsAreOld);
    if (objection) return objection;
  }
  return null;
}

async function objectionTo(host: Host, step: StepOf<'set_packages'>, listsAreOld: boolean): Promise<PlanReason | null> {
  const context = planningContext(host);
  const manager = managers[step.manager];
  const now = await manager.list(context);
  if (!now.ok) return null;
  const change = await toChange(context, manager, step, now.value);
  const failure = change.ok ? await whyNotThisChange(context, manager, step, change.value) : change;
  if (failure === null || 'interrupted' in failure) return null;
  const { because } = failure;
  // A host that was recorded, or a lock that somebody holds, proves nothing.
  if (because.because.startsWith('package_manager_') || because.because === 'packages_busy') return null;
  if (listsAreOld && because.because !== 'would_remove' && because.because !== 'would_change') return null;
  return because;
}

/** Enough for questions: nobody waits here. */
function planningContext(host: Host): StepContext {
  return {
    host,
    sha256: () => '',
    clock: createSystemClock(),
    collectFacts: async () => ({}),
    snapshot: undefined,
    readSnapshot: async () => undefined,
    pause: async () => undefined,
    isStopping: () => true,
    tell: () => undefined,
  };
}
