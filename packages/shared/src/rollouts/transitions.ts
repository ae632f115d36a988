import type { RolloutState, SlotState, WaveState } from './states.ts';

type Moves<S extends string> = { readonly [From in S]: readonly S[] };

const ends = ['canceling', 'canceled'] as const;

export const rolloutMoves: Moves<RolloutState> = {
  draft: ['planned', 'canceled'],
  planned: ['awaiting_approval', 'approved', 'rejected', 'stale', 'superseded', 'canceled'],
  awaiting_approval: ['approved', 'rejected', 'stale', 'superseded', 'canceled'],
  approved: ['scheduled', 'running', 'stale', 'superseded', 'canceled'],
  rejected: [],
  scheduled: ['running', 'stale', 'superseded', 'canceled'],
  running: ['paused', 'waiting_window', 'halted', 'completing', 'succeeded', 'completed_with_exceptions', ...ends],
  paused: ['running', 'halted', ...ends],
  waiting_window: ['running', 'paused', 'halted', ...ends],
  halted: ['running', 'rolling_back', ...ends],
  completing: ['succeeded', 'completed_with_exceptions', 'paused', 'halted', 'rolling_back', ...ends],
  succeeded: [],
  completed_with_exceptions: [],
  canceling: ['canceled'],
  canceled: [],
  rolling_back: ['rolled_back'],
  rolled_back: [],
  stale: [],
  superseded: [],
};

export const waveMoves: Moves<WaveState> = {
  pending: ['open'],
  open: ['soaking', 'awaiting_gate', 'passed', 'failed'],
  soaking: ['awaiting_gate', 'passed', 'failed'],
  awaiting_gate: ['passed', 'failed'],
  passed: [],
  /** A person cleared the halt. */
  failed: ['open'],
};

const results = ['succeeded', 'noop', 'failed', 'rolled_back', 'rollback_failed', 'canceled'] as const;

export const slotMoves: Moves<SlotState> = {
  queued: ['waiting', 'deferred', 'skipped', 'failed', 'canceled', 'superseded'],
  waiting: ['granted', 'deferred', 'skipped', 'failed', 'canceled', 'superseded'],
  /** Back to waiting: its next job, or an attempt that never had an effect. */
  granted: ['unknown', 'waiting', ...results],
  /** Not settled: the one result is still owed. */
  unknown: ['granted', 'waiting', ...results],
  deferred: ['waiting', 'skipped', 'canceled', 'superseded'],
  succeeded: [],
  noop: [],
  /** Back to waiting: `retry`. */
  failed: ['waiting'],
  rolled_back: ['waiting'],
  rollback_failed: ['waiting'],
  canceled: [],
  skipped: [],
  superseded: [],
};

export function canMove<S extends string>(moves: Moves<S>, from: S, to: S): boolean {
  return from === to || moves[from].includes(to);
}

/** The machine as a mermaid state diagram. */
export function toMermaid<S extends string>(moves: Moves<S>, first: S): string {
  const lines = ['stateDiagram-v2', `  [*] --> ${first}`];
  for (const [from, targets] of Object.entries<readonly S[]>(moves)) {
    for (const to of targets) lines.push(`  ${from} --> ${to}`);
    if (targets.length === 0) lines.push(`  ${from} --> [*]`);
  }
  return lines.join('\n');
}
