import { FleetError } from '@gpufleet/shared/core';
import type Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import type { Database, DatabaseStats, Db } from './database.ts';
import { toDatabaseError } from './sqlite-error.ts';
import { runningWrites, type WriteContext } from './write-context.ts';

/** Writes that may share one commit: bounds how long the loop is held and how much one failed commit takes along. */
const maxPerCommit = 200;
const maxTurns = 20;

interface Waiting {
  /** The write that ran when this one was asked for: only a write inside a write can depend on it. */
  askedDuring: WriteContext | undefined;
  body(tx: Db): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Done = { waiting: Waiting; signals: WriteContext['signals'] } & (
  | { ok: true; value: unknown }
  | { ok: false; error: unknown }
);

export type WriteQueue = Pick<Database, 'write' | 'onCommit' | 'stats'> & {
  /** Takes no more writes and waits for the ones that it has. */
  end(): Promise<void>;
};

/**
 * One write at a time on the writer connection. Writes that wait together share a BEGIN IMMEDIATE … COMMIT; each has its
 * savepoint, so one that throws is undone alone.
 */
export function createWriteQueue(parts: {
  sqlite: Sqlite.Database;
  tx: Db;
  path: string;
  log?: Logger | undefined;
}): WriteQueue {
  const { sqlite, tx, path, log } = parts;
  const statement = {
    begin: sqlite.prepare('BEGIN IMMEDIATE'),
    commit: sqlite.prepare('COMMIT'),
    rollback: sqlite.prepare('ROLLBACK'),
    savepoint: sqlite.prepare('SAVEPOINT one'),
    release: sqlite.prepare('RELEASE one'),
    undo: sqlite.prepare('ROLLBACK TO one'),
  };
  const queue: Waiting[] = [];
  const listeners = new Map<string, Set<(details: readonly string[]) => void>>();
  const counts = { writes: 0, commits: 0 };
  let draining: Promise<void> | undefined;
  let ended = false;

  /**
   * The database answers at once, so a body that awaits nothing else is done before the loop turns: one that is not waits
   * for the network, a timer or a write inside itself, and would hold every other write.
   */
  async function runOne(waiting: Waiting, turned: Promise<never>): Promise<Done> {
    const context: WriteContext = { signals: [] };
    statement.savepoint.run();
    runningWrites.set(tx, context);
    try {
      const value = await Promise.race([waiting.body(tx), turned]);
      statement.release.run();
      return { waiting, signals: context.signals, ok: true, value };
    } catch (error) {
      if (error === awaitedElse) refuseInner(context);
      // A full disk makes SQLite roll the whole transaction back by itself: then there is no savepoint left.
      if (sqlite.inTransaction) {
        statement.undo.run();
        statement.release.run();
      }
      return { waiting, signals: [], ok: false, error };
    } finally {
      runningWrites.delete(tx);
    }
  }

  /** A body that was given up must find its inner writes refused: it may not go on outside its transaction. */
  function refuseInner(context: WriteContext): void {
    for (const inner of queue.filter(({ askedDuring }) => askedDuring === context)) {
      queue.splice(queue.indexOf(inner), 1);
      inner.reject(awaitedElse);
    }
  }

  async function commitTogether(batch: Waiting[]): Promise<void> {
    const done: Done[] = [];
    let turn = nextTurn();
    try {
      statement.begin.run();
      for (const waiting of batch) {
        const one = await runOne(waiting, turn.ended);
        // The turn is over for the one that used it up, not for those that come after it.
        if (!one.ok && one.error === awaitedElse) turn = nextTurn();
        done.push(one);
        if (!sqlite.inTransaction) throw one.ok ? new Error('a write ended the transaction') : one.error;
      }
      statement.commit.run();
    } catch (error) {
      if (sqlite.inTransaction) statement.rollback.run();
      for (const waiting of batch) waiting.reject(toDatabaseError(path, error));
      return;
    } finally {
      turn.cancel();
    }
    counts.commits += 1;
    counts.writes += done.length;
    for (const one of done) {
      if (one.ok) one.waiting.resolve(one.value);
      else one.waiting.reject(toDatabaseError(path, one.error));
    }
    tell(done.flatMap((one) => one.signals));
  }

  function tell(signals: WriteContext['signals']): void {
    for (const topic of new Set(signals.map((signal) => signal.topic))) {
      const details = signals.filter((signal) => signal.topic === topic).map((signal) => signal.detail);
      for (const listener of listeners.get(topic) ?? []) {
        try {
          listener(details);
        } catch (error) {
          // The change is committed: a listener that fails must not make the writer believe otherwise.
          log?.error({ err: error, topic }, 'commit listener failed');
        }
      }
    }
  }

  /**
   * Waits while every turn of the loop brings more writes: under load hundreds share one sync to disk, and a lone write
   * waits for one turn. Sockets are served in between.
   */
  async function gather(): Promise<void> {
    let before = 0;
    for (let turn = 0; turn < maxTurns && queue.length > before && queue.length < maxPerCommit; turn++) {
      before = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      await commitTogether(queue.splice(0, maxPerCommit));
    }
    draining = undefined;
  }

  return {
    write<T>(body: (tx: Db) => Promise<T>): Promise<T> {
      if (ended)
        return Promise.reject(new FleetError('shutting_down', 'the server is shutting down: try again in a moment'));
      return new Promise<T>((resolve, reject) => {
        // `resolve` is given only what this very body returned.
        queue.push({ askedDuring: runningWrites.get(tx), body, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drain();
      });
    },
    onCommit(topic, listener) {
      const set = listeners.get(topic) ?? new Set();
      listeners.set(topic, set.add(listener));
      return () => set.delete(listener);
    },
    stats: (): DatabaseStats => ({ waiting: queue.length, ...counts }),
    async end() {
      ended = true;
      await draining;
    },
  };
}

const awaitedElse = new Error(
  'db.write awaited something other than its database (a db.write inside db.write, a timer, the network): pass tx on, await outside',
);

/** Rejects with `awaitedElse` when the event loop has turned. */
function nextTurn(): { ended: Promise<never>; cancel(): void } {
  let end: (error: Error) => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    end = reject;
  });
  // It is raced against each body; a turn that nobody waits for any more is no error.
  ended.catch(() => undefined);
  const immediate = setImmediate(() => end(awaitedElse));
  return { ended, cancel: () => clearImmediate(immediate) };
}
