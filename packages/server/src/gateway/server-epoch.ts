import { type Database, findMeta, setMeta } from '../db/index.ts';

const key = 'serverEpoch';
/** Session epochs of one server epoch: `serverEpoch × this + n`, so that they only ever rise, also across a restart. */
const sessionsPerEpoch = 2 ** 32;
/**
 * How far agents may raise the epoch in the life of one process. A backup is some starts old, never thousands; and a
 * stolen host that says a huge number must not use up the numbers of the whole fleet.
 */
const maxRaise = 1_000;

export interface ServerEpoch {
  current(): number;
  /**
   * An agent has seen `seen`: this store is an older copy. Goes above it, durably, before anything else is said. False
   * when it is further than any backup can explain: nothing is changed, and that agent takes no grants of ours.
   */
  raiseAbove(seen: number): Promise<boolean>;
  nextSessionEpoch(): number;
}

/** Every start is a new epoch. */
export async function startServerEpoch(db: Database): Promise<ServerEpoch> {
  let current = await raise(0);
  const most = current + maxRaise;
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
      if (seen <= current) return true;
      if (seen >= most) return false;
      // Two agents may ask at once: the second finds it done, or raises further; it never falls.
      current = Math.max(current, await raise(seen));
      return true;
    },
    nextSessionEpoch() {
      sessions += 1;
      return current * sessionsPerEpoch + sessions;
    },
  };
}
