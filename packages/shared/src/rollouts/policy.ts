import { parseDuration } from './duration.ts';
import type { RolloutSpec, Strategy, Window } from './spec.ts';
import type { Threshold } from './thresholds.ts';

/** A rollout's strategy as the planner reads it: durations in milliseconds. */
export interface Policy {
  failure: Threshold;
  budget: Threshold;
  soakMs: number;
  deferAfterMs: number;
  catchUpMs: number;
  contactGraceMs: number;
  gate: Strategy['gate'];
  offline: Strategy['offline'];
  /** null: each site's own window, or any time where the site has none. */
  window: Window | null;
  allowControlPlaneDowntime: boolean;
}

export function toPolicy(spec: RolloutSpec): Policy {
  const { strategy } = spec;
  return {
    failure: strategy.failure,
    budget: strategy.budget,
    soakMs: toMs(strategy.soak),
    deferAfterMs: toMs(strategy.deferAfter),
    catchUpMs: toMs(strategy.catchUp),
    contactGraceMs: toMs(strategy.contactGrace),
    gate: strategy.gate,
    offline: strategy.offline,
    window: strategy.window ?? null,
    allowControlPlaneDowntime: strategy.allowControlPlaneDowntime,
  };
}

function toMs(duration: string): number {
  const ms = parseDuration(duration);
  if (ms === undefined) throw new Error(`${duration} passed the schema but is no duration`);
  return ms;
}
