import type { JobState } from '../api/jobs.ts';
import type { Policy } from './policy.ts';
import type { Disposition, RolloutState, SlotState, WaitReason, WaveState } from './states.ts';
import { canMove, rolloutMoves, slotMoves, waveMoves } from './transitions.ts';

export interface RolloutView {
  id: string;
  state: RolloutState;
  because: string | null;
  becauseDetail: string | null;
  policy: Policy;
  expiresAtMs: number | null;
  catchUpUntilMs: number | null;
  startedAtMs: number | null;
  endedAtMs: number | null;
}

export interface WaveView {
  index: number;
  name: string;
  state: WaveState;
  isCanary: boolean;
  openedAtMs: number | null;
  soakUntilMs: number | null;
  endedAtMs: number | null;
}

export interface SlotView {
  id: string;
  waveIndex: number;
  position: number;
  hostId: string;
  siteId: string;
  state: SlotState;
  because: WaitReason | null;
  detail: string | null;
  sinceMs: number;
  disposition: Disposition | null;
  worstCaseMs: number;
}

/** One job of a slot; a slot's jobs run one after the other. */
export interface JobView {
  id: string;
  slotId: string;
  position: number;
  state: JobState;
}

/** All that the rollout's machines stand on: what is stored, nothing of the outside. */
export interface Snapshot {
  rollout: RolloutView;
  waves: WaveView[];
  slots: SlotView[];
  jobs: JobView[];
}

/** What a decision changes, to be stored in one transaction. */
export interface Changes {
  rollout?: Partial<Omit<RolloutView, 'id' | 'policy'>>;
  /** A wave that is not there yet is made. */
  waves?: ({ index: number } & Partial<WaveView>)[];
  slots?: ({ id: string } & Partial<SlotView>)[];
  jobs?: { id: string; state: JobState }[];
}

/** The lane in which deferred hosts run after their wave has passed. Parentheses: no site can have this name. */
export const tailWaveName = '(deferred)';

export function isTail(wave: WaveView): boolean {
  return wave.name === tailWaveName;
}

export function slotsOf(snapshot: Snapshot, wave: WaveView): SlotView[] {
  return snapshot.slots.filter((slot) => slot.waveIndex === wave.index);
}

export function jobsOf(snapshot: Snapshot, slotId: string): JobView[] {
  return snapshot.jobs.filter((job) => job.slotId === slotId).sort((a, b) => a.position - b.position);
}

/** The wave that is worked on: the first that has not passed. undefined: all have. */
export function currentWave(snapshot: Snapshot): WaveView | undefined {
  return orderedWaves(snapshot).find((wave) => wave.state !== 'passed');
}

export function orderedWaves(snapshot: Snapshot): WaveView[] {
  return snapshot.waves.filter((wave) => !isTail(wave)).sort((a, b) => a.index - b.index);
}

/** The snapshot after the changes. Throws on a move that the machines do not have: that is a bug of ours. */
export function applyChanges(snapshot: Snapshot, changes: Changes): Snapshot {
  const { rollout = {}, waves = [], slots = [], jobs = [] } = changes;
  checkMove('rollout', rolloutMoves, snapshot.rollout.state, rollout.state);
  const next: Snapshot = {
    rollout: { ...snapshot.rollout, ...rollout },
    waves: [...snapshot.waves],
    slots: [...snapshot.slots],
    jobs: [...snapshot.jobs],
  };
  for (const change of waves) {
    const at = next.waves.findIndex((wave) => wave.index === change.index);
    const before = next.waves[at];
    if (before) checkMove(`wave ${change.index}`, waveMoves, before.state, change.state);
    // A wave that is made is given whole: see `returnSlot`.
    next.waves.splice(before ? at : next.waves.length, before ? 1 : 0, {
      ...(before ?? (change as WaveView)),
      ...change,
    });
  }
  for (const change of slots) {
    const at = next.slots.findIndex((slot) => slot.id === change.id);
    const before = next.slots[at];
    if (!before) throw new Error(`there is no slot ${change.id} to change`);
    checkMove(`slot ${change.id}`, slotMoves, before.state, change.state);
    next.slots[at] = { ...before, ...change };
  }
  for (const change of jobs) {
    const at = next.jobs.findIndex((job) => job.id === change.id);
    const before = next.jobs[at];
    if (!before) throw new Error(`there is no job ${change.id} to change`);
    next.jobs[at] = { ...before, ...change };
  }
  return next;
}

function checkMove<S extends string>(
  what: string,
  moves: { readonly [F in S]: readonly S[] },
  from: S,
  to: S | undefined,
): void {
  if (to !== undefined && !canMove(moves, from, to)) throw new Error(`${what} cannot move from ${from} to ${to}`);
}
