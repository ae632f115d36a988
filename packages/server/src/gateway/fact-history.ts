import { deriveHostClass } from '@gpufleet/shared/probes';
import type { Deps } from '../deps.ts';
import { diffFacts, listSectionRows, recordFactChanges, setHostClass, toFacts } from '../resources/hosts/index.ts';
import { createKeyBatch } from './key-batch.ts';

/** A host of unknown class is classified as soon as its first reports are in, a known one when things have calmed. */
const firstDelayMs = 200;
const delayMs = 2_000;
/** Characters of earlier bodies that are held until their history is written. */
const maxHeld = 16_000_000;

export interface FactHistory {
  /** A new body of this section is stored; `before` is the one that it replaced. */
  stored(hostId: string, name: string, before: string | null): Promise<void>;
  /** The burst's first body of this section is here already: a later one is not needed. */
  holds(hostId: string, name: string): boolean;
  close(): Promise<void>;
}

/**
 * What follows from new facts and can wait: which values changed, and what the host now is. Worked out once for a burst
 * of reports: reading every fact again for each of them would cost more than storing it. A crash in these seconds loses
 * the entry in the history, never a fact.
 */
export function createFactHistory(deps: Deps): FactHistory {
  const { db, clock, log, config } = deps;
  const held = new Map<string, Map<string, string>>();
  const classified = new Set<string>();
  const unknown = createKeyBatch({ clock, log, delayMs: firstDelayMs }, workOff);
  const known = createKeyBatch({ clock, log, delayMs }, workOff);
  let heldCharacters = 0;

  async function workOff(hostId: string): Promise<void> {
    const before = held.get(hostId) ?? new Map<string, string>();
    held.delete(hostId);
    const rows = await listSectionRows(db.read, hostId);
    const changed = rows.flatMap(({ name, body }) => {
      const earlier = before.get(name);
      if (earlier === undefined) return [];
      heldCharacters -= earlier.length;
      const changes = diffFacts(name, JSON.parse(earlier), JSON.parse(body));
      return changes.length > 0 ? [{ hostId, name, atMs: clock.nowMs(), changes }] : [];
    });
    const hostClass = deriveHostClass(toFacts(rows));
    await db.write(async (tx) => {
      for (const report of changed) await recordFactChanges(tx, report, config.keep.factChangesPerHost);
      await setHostClass(tx, clock.nowMs(), hostId, hostClass);
    });
    classified.add(hostId);
  }

  async function flush(): Promise<void> {
    await unknown.flush();
    await known.flush();
  }

  return {
    async stored(hostId, name, before) {
      const ofHost = held.get(hostId) ?? new Map<string, string>();
      // The first of a burst: what lies between it and the last is no history.
      if (before !== null && !ofHost.has(name)) {
        held.set(hostId, ofHost.set(name, before));
        heldCharacters += before.length;
      }
      (classified.has(hostId) ? known : unknown).add(hostId);
      if (heldCharacters > maxHeld) await flush();
    },
    holds: (hostId, name) => held.get(hostId)?.has(name) ?? false,
    close: flush,
  };
}
