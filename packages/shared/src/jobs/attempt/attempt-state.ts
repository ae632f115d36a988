import type { PlanReason, Step } from '../step.ts';
import type { BegunStep } from '../undo-steps.ts';
import type { EntryOf, JournalEntry, Lane, StepSnapshot } from './journal.ts';

/** How far one list of steps has come. */
export interface Progress {
  steps: Step[];
  /** By index; absent: not begun. `refused`: it failed and left nothing. */
  states: Map<number, 'begun' | 'done' | 'failed' | 'refused'>;
  /** What `begun` held, by index. */
  before: Map<number, unknown>;
  failures: PlanReason[];
}

/** An attempt as its journal tells it. */
export interface AttemptState {
  granted: EntryOf<'granted'>;
  planned: EntryOf<'planned'> | null;
  snapshots: StepSnapshot[] | null;
  forward: Progress;
  verified: EntryOf<'verified'> | null;
  confirmed: EntryOf<'confirmed'> | null;
  cancel: string | null;
  undo: (Progress & { cause: EntryOf<'undo_planned'>['cause']; because: PlanReason[] }) | null;
  settled: EntryOf<'settled'> | null;
  afterBoot: EntryOf<'after_boot'> | null;
}

/** undefined for a journal that does not begin with a grant: its first line was torn by a crash, nothing was done. */
export function foldJournal(entries: readonly JournalEntry[]): AttemptState | undefined {
  const [granted, ...rest] = entries;
  if (granted?.type !== 'granted') return undefined;
  return rest.reduce(withEntry, {
    granted,
    planned: null,
    snapshots: null,
    forward: progressOf([]),
    verified: null,
    confirmed: null,
    cancel: null,
    undo: null,
    settled: null,
    afterBoot: null,
  });
}

export function withEntry(state: AttemptState, entry: JournalEntry): AttemptState {
  switch (entry.type) {
    case 'granted':
      return state;
    case 'planned':
      return { ...state, planned: entry, forward: progressOf(entry.steps) };
    case 'snapshotted':
      return { ...state, snapshots: entry.snapshots };
    case 'begun':
      return withProgress(state, entry.lane, (lane) => ({
        ...lane,
        states: new Map(lane.states).set(entry.step, 'begun'),
        before: new Map(lane.before).set(entry.step, entry.before),
      }));
    case 'done':
      return withProgress(state, entry.lane, (lane) => ({
        ...lane,
        states: new Map(lane.states).set(entry.step, 'done'),
      }));
    case 'failed':
      return withProgress(state, entry.lane, (lane) => ({
        ...lane,
        states: new Map(lane.states).set(entry.step, entry.effect ? 'failed' : 'refused'),
        failures: [...lane.failures, entry.because],
      }));
    case 'verified':
      return { ...state, verified: entry };
    case 'confirmed':
      return { ...state, confirmed: entry };
    case 'cancel_asked':
      return { ...state, cancel: state.cancel ?? entry.because };
    case 'undo_planned':
      return { ...state, undo: { ...progressOf(entry.steps), cause: entry.cause, because: entry.because } };
    case 'settled':
      return { ...state, settled: entry };
    case 'after_boot':
      return { ...state, afterBoot: entry };
  }
}

function progressOf(steps: Step[]): Progress {
  return { steps, states: new Map(), before: new Map(), failures: [] };
}

function withProgress(state: AttemptState, lane: Lane, change: (progress: Progress) => Progress): AttemptState {
  if (lane === 'do') return { ...state, forward: change(state.forward) };
  return state.undo ? { ...state, undo: { ...state.undo, ...change(state.undo) } } : state;
}

/** Steps whose effect is there or may be there, in the order in which they were begun. */
export function begunSteps(progress: Progress): BegunStep[] {
  return progress.steps.flatMap((step, index) => {
    const state = progress.states.get(index);
    return state === undefined || state === 'refused' ? [] : [{ index, step, before: progress.before.get(index) }];
  });
}
