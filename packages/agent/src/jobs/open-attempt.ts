import { type AttemptState, foldJournal, type JournalEntry, type Stamp, withEntry } from '@gpufleet/shared/jobs';
import type { Host } from '../host/host.ts';
import type { AttemptStore } from './attempt-store.ts';

/** An entry before it is stamped. */
export type NewEntry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'at'> : never) : never;

/** An attempt in memory that is never ahead of its journal: state changes once the line is on the disk. */
export interface OpenJournal {
  readonly attemptId: string;
  state(): AttemptState;
  entries(): readonly JournalEntry[];
  /** Appends in the order of the calls. `when` is asked at its turn: false leaves it out. */
  append(entry: NewEntry, when?: (state: AttemptState) => boolean): Promise<void>;
  /** After a failed write: what really reached the disk. */
  reload(): Promise<void>;
}

export function openJournal(
  deps: { host: Host; store: AttemptStore },
  attemptId: string,
  first: { entries: JournalEntry[]; state: AttemptState },
): OpenJournal {
  let { entries, state } = first;
  let last: Promise<unknown> = Promise.resolve();

  async function write(entry: NewEntry, when: (state: AttemptState) => boolean): Promise<void> {
    if (!when(state)) return;
    // `Omit` of a union's member keeps that member's other keys: with `at` it is one again.
    const stamped = { ...entry, at: await stampOf(deps.host) } as JournalEntry;
    await deps.store.append(attemptId, stamped);
    entries = [...entries, stamped];
    state = withEntry(state, stamped);
  }

  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = last.then(act);
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    attemptId,
    state: () => state,
    entries: () => entries,
    append: (entry, when = () => true) => inTurn(() => write(entry, when)),
    reload: () =>
      inTurn(async () => {
        const stored = await deps.store.load(attemptId);
        const folded = stored && foldJournal(stored.entries);
        if (stored && folded) ({ entries, state } = { entries: stored.entries, state: folded });
      }),
  };
}

export async function stampOf(host: Host): Promise<Stamp> {
  const { bootId, uptimeMs, nowMs } = await host.moment();
  return { bootId, uptimeMs, nowMs };
}
