import { type Database, findMeta, setMeta } from '../db/index.ts';

const key = 'serverEpoch';
/** Session epochs of one server epoch: `serverEpoch × this + n`, so that they only ever rise, also across a restart. */
const sessionsPerEpoch = 2 ** 24;

export interface ServerEpoch {
  current(): number;
  /** An agent has seen `seen`: this store is an older copy. Goes above it, durably, before anything else is said. */
  raiseAbove(seen: number): Promise<void>;
  nextSessionEpoch(): number;
}

/** Every start is a new epoch. */
export async function startServerEpoch(db: Database): Promise<ServerEpoch> {
  let current = await raise(0);
  let sessions = 0;

  async function raise(seen: number): Promise<number> {
    return db.write(async (tx) => {
      const next = Math.max(Number((await findMeta(tx, key)) ?? 0), seen) + 1;
      await setMeta(tx, key, String(next));
      return next;
    });
  }

  return {
    current: () => current,
    async raiseAbove(seen) {
      if (seen <= current) return;
      // Two agents may ask at once: the second finds it done, or raises further; it never falls.
      current = Math.max(current, await raise(seen));
    },
    nextSessionEpoch() {
      sessions += 1;
      return current * sessionsPerEpoch + sessions;
    },
  };
}
