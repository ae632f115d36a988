import { FleetError } from '@gpufleet/shared/core';
import { type AttemptState, foldJournal, JournalEntry } from '@gpufleet/shared/jobs';
import { AttemptResult } from '@gpufleet/shared/protocol';
import type { StateDir } from '../host/state-dir.ts';

const keptAttempts = 200;
const orderFile = 'attempt-order.jsonl';

export interface StoredAttempt {
  entries: JournalEntry[];
  state: AttemptState;
}

/** Names and contents of what the engine keeps. */
export interface AttemptStore {
  append(attemptId: string, entry: JournalEntry): Promise<void>;
  /** undefined: no such attempt, or its first line was torn, so that nothing was done. */
  load(attemptId: string): Promise<StoredAttempt | undefined>;
  /** Every attempt that was ever begun here, oldest first, pruned ones too. */
  order(): Promise<string[]>;
  /** Once the attempt's first line is in the journal. */
  recordOrder(attemptId: string): Promise<void>;
  listJournals(): Promise<string[]>;
  prune(): Promise<void>;
  writeSnapshot(attemptId: string, name: string, text: string): Promise<void>;
  readSnapshot(attemptId: string, name: string): Promise<string | undefined>;
  putOutbox(result: AttemptResult): Promise<void>;
  readOutbox(attemptId: string): Promise<AttemptResult | undefined>;
  listOutbox(): Promise<AttemptResult[]>;
  removeOutbox(attemptId: string): Promise<void>;
}

export function createAttemptStore(state: StateDir): AttemptStore {
  const folder = (attemptId: string) => `attempts/${checkId(attemptId)}`;
  const journal = (attemptId: string) => `${folder(attemptId)}/journal.jsonl`;
  const outbox = (attemptId: string) => `outbox/${checkId(attemptId)}.json`;

  async function load(attemptId: string): Promise<StoredAttempt | undefined> {
    const lines = await state.readLines(journal(attemptId));
    const entries = lines.map((line) => JournalEntry.parse(JSON.parse(line)));
    const folded = foldJournal(entries);
    return folded && { entries, state: folded };
  }

  async function order(): Promise<string[]> {
    return (await state.readLines(orderFile)).map((line) => String(JSON.parse(line)));
  }

  async function remove(attemptId: string): Promise<void> {
    for (const name of await state.list(`${folder(attemptId)}/snapshots`))
      await state.remove(`${folder(attemptId)}/snapshots/${name}`);
    // Last, so that a crash on the way leaves an attempt that is still known.
    await state.remove(journal(attemptId));
  }

  async function readOutbox(attemptId: string): Promise<AttemptResult | undefined> {
    const text = await state.read(outbox(attemptId));
    return text === undefined ? undefined : AttemptResult.parse(JSON.parse(text));
  }

  async function listJournals(): Promise<string[]> {
    const found = [];
    for (const attemptId of await state.list('attempts'))
      if ((await state.list(folder(attemptId))).includes('journal.jsonl')) found.push(attemptId);
    return found;
  }

  return {
    append: (attemptId, entry) => state.appendLine(journal(attemptId), JSON.stringify(entry)),
    load,
    order,
    listJournals,
    recordOrder: (attemptId) => state.appendLine(orderFile, JSON.stringify(attemptId)),
    async prune() {
      const begun = await order();
      if (begun.length <= keptAttempts) return;
      const present = new Set(await listJournals());
      const inOrder = begun.filter((attemptId) => present.has(attemptId));
      for (const attemptId of inOrder.slice(0, Math.max(0, inOrder.length - keptAttempts))) {
        const stored = await load(attemptId);
        if (!stored || stored.state.settled) await remove(attemptId);
      }
    },
    writeSnapshot: (attemptId, name, text) => state.write(`${folder(attemptId)}/snapshots/${name}`, text),
    readSnapshot: (attemptId, name) => state.read(`${folder(attemptId)}/snapshots/${name}`),
    putOutbox: (result) => state.write(outbox(result.attemptId), JSON.stringify(result)),
    readOutbox,
    async listOutbox() {
      const results = [];
      for (const name of await state.list('outbox')) {
        const result = await readOutbox(name.replace(/\.json$/, ''));
        if (result) results.push(result);
      }
      const position = new Map((await order()).map((attemptId, index) => [attemptId, index]));
      return results.sort((a, b) => (position.get(a.attemptId) ?? 0) - (position.get(b.attemptId) ?? 0));
    },
    removeOutbox: (attemptId) => state.remove(outbox(attemptId)),
  };
}

/** An id becomes the name of a folder. */
function checkId(attemptId: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(attemptId))
    throw new FleetError('bad_attempt_id', 'an attempt id is 1–128 letters, digits, _ -', { attemptId });
  return attemptId;
}
