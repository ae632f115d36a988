import {
  type AttemptState,
  begunSteps,
  mayCutOff,
  needsOfRequest,
  type PlanReason,
  parseRequest,
  planHashOf,
  type Step,
  undoSteps,
} from '@gpufleet/shared/jobs';
import type { Facts, ProbeKey } from '@gpufleet/shared/probes';
import type { AttemptStore } from './attempt-store.ts';
import type { EngineDeps } from './engine.ts';
import type { NewEntry } from './open-attempt.ts';
import { planNow } from './plan-now.ts';
import { readRoutes } from './routes.ts';

type Planned = Extract<NewEntry, { type: 'planned' }>;

const nothing: Omit<Planned, 'outcome' | 'because'> = {
  type: 'planned',
  planHash: null,
  steps: [],
  before: {},
  routes: null,
};

/** The plan of a granted attempt, from facts read now: as the entry that records it. */
export async function planAttempt(deps: EngineDeps, store: AttemptStore, state: AttemptState): Promise<Planned> {
  if (state.granted.undoOf !== null) return planWayBack(deps, store, state, state.granted.undoOf);
  const { request, planHash } = state.granted;
  const needs = [...needsOfRequest(request)];
  const { plan, facts } = await planNow(deps, request);
  const before = factsAsJson(facts, needs);
  if (plan.outcome !== 'plan') return { ...nothing, outcome: plan.outcome, because: plan.because, before };
  const hash = hashOf(deps, state, plan.steps);
  if (planHash !== null && planHash !== hash) {
    const because = [{ because: 'plan_changed', detail: 'the host is not as it was when the plan was approved' }];
    return { ...nothing, outcome: 'blocked', because, planHash: hash, before };
  }
  const routes = await routesBefore(deps, plan.steps);
  return { ...nothing, outcome: 'plan', because: plan.because, planHash: hash, steps: plan.steps, before, routes };
}

/** The inverse steps of an earlier attempt, with its copies taken over: they outlive that attempt's record. */
async function planWayBack(
  deps: EngineDeps,
  store: AttemptStore,
  state: AttemptState,
  undoOf: string,
): Promise<Planned> {
  const blocked = (because: string, detail: string): Planned => {
    const reasons: PlanReason[] = [{ because, detail }];
    return { ...nothing, outcome: 'blocked', because: reasons };
  };
  const original = await store.load(undoOf);
  if (!original) return blocked('attempt_not_found', `there is no record of attempt ${undoOf} any more`);
  if (original.state.settled?.result.outcome !== 'succeeded')
    return blocked('nothing_to_undo', `attempt ${undoOf} left nothing to undo`);
  const steps: Step[] = [];
  for (const step of undoSteps(begunSteps(original.state.forward), original.state.snapshots ?? [])) {
    if (step.do !== 'restore_file' || step.snapshot === null) {
      steps.push(step);
      continue;
    }
    const text = await store.readSnapshot(undoOf, step.snapshot);
    if (text === undefined) return blocked('snapshot_missing', `the copy of ${step.path} is gone`);
    const name = `of-${step.snapshot}`;
    await store.writeSnapshot(state.granted.attemptId, name, text);
    steps.push({ ...step, snapshot: name });
  }
  if (steps.length === 0 || (await isUndone(store, undoOf))) {
    const detail = `nothing of attempt ${undoOf} is left to put back`;
    return { ...nothing, outcome: 'noop', because: [{ because: 'nothing_to_undo', detail }] };
  }
  const because = [{ because: 'asked_to_undo', detail: `puts back what attempt ${undoOf} changed` }];
  const routes = await routesBefore(deps, steps);
  return { ...nothing, outcome: 'plan', because, planHash: hashOf(deps, state, steps), steps, routes };
}

async function isUndone(store: AttemptStore, attemptId: string): Promise<boolean> {
  for (const other of await store.order()) {
    const stored = await store.find(other);
    if (!stored || stored === 'damaged' || stored.state.granted.undoOf !== attemptId) continue;
    if (stored.state.settled?.result.outcome === 'succeeded') return true;
  }
  return false;
}

async function routesBefore({ host }: EngineDeps, steps: readonly Step[]): Promise<string[] | null> {
  return mayCutOff(steps) ? readRoutes(host) : null;
}

function hashOf(deps: EngineDeps, state: AttemptState, steps: Step[]): string {
  const { kind, params } = state.granted.request;
  return planHashOf({ kind, params: parsedParams(kind, params), steps }, deps.sha256);
}

/** With defaults filled in, so that a request hashes the same however much of it was spelled out. */
function parsedParams(kind: string, params: unknown): unknown {
  const parsed = parseRequest(kind, params);
  return parsed.ok ? parsed.params : params;
}

function factsAsJson(facts: Partial<Facts>, needs: readonly ProbeKey[]): Planned['before'] {
  // Facts are plain data; JSON drops the undefined members that the journal's schema would refuse.
  const picked = Object.fromEntries(needs.map((key) => [key, facts[key]]));
  return JSON.parse(JSON.stringify(picked)) as Planned['before'];
}
