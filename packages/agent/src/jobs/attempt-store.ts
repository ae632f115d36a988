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
  /** `damaged` where `load` throws `journal_damaged`: the disk gave back other lines than it was given. */
  find(attemptId: string): Promise<StoredAttempt | 'damaged' | undefined>;
  /** Every attempt that was ever begun here, oldest first, pruned ones too. */
  order(): Promise<string[]>;
  /** Once the attempt's first line is in the journal. */
  recordOrder(attemptId: string): Promise<void>;
  listJournals(): Promise<string[]>;
  prune(): Promise<void>;
  writeSnapshot(attemptId: string, name: string, text: string): Promise<void>;
  readSnapshot(attemptId: string, name: string): Promise<string | undefined>;
  /** The attempt is to be verified once more after the next boot. */
  awaitBoot(attemptId: string): Promise<void>;
  awaitingBoot(): Promise<string[]>;
  forgetBoot(attemptId: string): Promise<void>;
  putOutbox(result: AttemptResult): Promise<void>;
  readOutbox(attemptId: string): Promise<AttemptResult | undefined>;
  listOutbox(): Promise<AttemptResult[]>;
  removeOutbox(attemptId: string): Promise<void>;
}

export function createAttemptStore(state: StateDir): AttemptStore {
  const folder = (attemptId: string) => `attempts/${checkId(attemptId)}`;
  const journal = (attemptId: string) => `${folder(attemptId)}/journal.jsonl`;
  const awaiting = (attemptId: string) => `after-boot/${checkId(attemptId)}`;
  const outbox = (attemptId: string) => `outbox/${checkId(attemptId)}.json`;

  async function load(attemptId: string): Promise<StoredAttempt | undefined> {
    const entries: JournalEntry[] = [];
    for (const line of await state.readLines(journal(attemptId))) {
      const entry = JournalEntry.safeParse(parseJson(line));
      if (!entry.success)
        throw new FleetError(
          'journal_damaged',
          `line ${entries.length + 1} of the journal of attempt ${attemptId} is damaged`,
          { attemptId },
        );
      entries.push(entry.data);
    }
    const folded = foldJournal(entries);
    return folded && { entries, state: folded };
  }

  async function find(attemptId: string): Promise<StoredAttempt | 'damaged' | undefined> {
    try {
      return await load(attemptId);
    } catch (error) {
      if (error instanceof FleetError && error.code === 'journal_damaged') return 'damaged';
      throw error;
    }
  }

  async function order(): Promise<string[]> {
    // What a damaged line named is found among the journals.
    const ids = (await state.readLines(orderFile)).map(parseJson);
    return ids.filter((id): id is string => typeof id === 'string');
  }

  async function remove(attemptId: string): Promise<void> {
    for (const name of await state.list(`${folder(attemptId)}/snapshots`))
      await state.remove(`${folder(attemptId)}/snapshots/${name}`);
    // Last, so that a crash on the way leaves an attempt that is still known.
    await state.remove(journal(attemptId));
  }

  async function readOutbox(attemptId: string): Promise<AttemptResult | undefined> {
    const text = await state.read(outbox(attemptId));
    if (text === undefined) return undefined;
    const result = AttemptResult.safeParse(parseJson(text));
    if (result.success) return result.data;
    // The journal's last line holds the same result.
    const stored = await find(attemptId);
    return stored === 'damaged' ? undefined : stored?.state.settled?.result;
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
    find,
    order,
    listJournals,
    recordOrder: (attemptId) => state.appendLine(orderFile, JSON.stringify(attemptId)),
    async prune() {
      const begun = await order();
      if (begun.length <= keptAttempts) return;
      const present = new Set(await listJournals());
      const inOrder = begun.filter((attemptId) => present.has(attemptId));
      for (const attemptId of inOrder.slice(0, Math.max(0, inOrder.length - keptAttempts))) {
        const stored = await find(attemptId);
        if (stored === 'damaged' || !stored || stored.state.settled) await remove(attemptId);
      }
    },
    writeSnapshot: (attemptId, name, text) => state.write(`${folder(attemptId)}/snapshots/${name}`, text),
    readSnapshot: (attemptId, name) => state.read(`${folder(attemptId)}/snapshots/${name}`),
    awaitBoot: (attemptId) => state.write(awaiting(attemptId), ''),
    awaitingBoot: () => state.list('after-boot'),
    forgetBoot: (attemptId) => state.remove(awaiting(attemptId)),
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A power cut can leave zeros where a line was: whoever asked for the line judges what is missing.
    return undefined;
  }
}
