import type { Deps } from '../deps.ts';
import { recordEvent } from '../resources/events/index.ts';
import { recordSessions } from '../resources/hosts/index.ts';
import type { HostEntry } from './host-directory.ts';

const flushEveryMs = 1_000;
/** Heartbeats alone are written down this often. */
const heardEveryMs = 5_000;
const hostsPerWrite = 500;
/** More hosts than this that come or go at once are told as a number. */
const maxTold = 50;

/** Who came, went and was heard of; written down in batches, never one transaction for one message. */
export interface Presence {
  heard(host: HostEntry): void;
  came(host: HostEntry): void;
  went(host: HostEntry): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function createPresence(deps: Pick<Deps, 'db' | 'clock' | 'log'>): Presence {
  const { db, clock, log } = deps;
  const heard = new Set<HostEntry>();
  const changed = new Set<HostEntry>();
  const moves = new Map<HostEntry, 'online' | 'offline'>();
  let heardFlushedMs = clock.monotonicMs();

  async function flush(): Promise<void> {
    if (clock.monotonicMs() - heardFlushedMs >= heardEveryMs) {
      for (const host of heard) changed.add(host);
      heard.clear();
      heardFlushedMs = clock.monotonicMs();
    }
    const hosts = [...changed];
    const moved = [...moves];
    changed.clear();
    moves.clear();
    for (let at = 0; at < hosts.length; at += hostsPerWrite)
      await db.write((tx) => recordSessions(tx, hosts.slice(at, at + hostsPerWrite)));
    if (moved.length > 0) await tell(moved);
  }

  async function tell(moved: [HostEntry, 'online' | 'offline'][]): Promise<void> {
    const atMs = clock.nowMs();
    await db.write(async (tx) => {
      if (moved.length > maxTold) {
        const online = moved.filter(([, to]) => to === 'online').length;
        await recordEvent(tx, { atMs, type: 'hosts.presence', data: { online, offline: moved.length - online } });
        return;
      }
      for (const [host, to] of moved)
        await recordEvent(tx, {
          atMs,
          type: `host.${to}`,
          siteId: host.siteId,
          hostId: host.id,
          data: { name: host.name },
        });
    });
  }

  const end = clock.every(flushEveryMs, () =>
    flush().catch((error: unknown) => log.error({ err: error }, 'presence was not written down')),
  );

  return {
    heard(host) {
      host.lastSeenAtMs = clock.nowMs();
      heard.add(host);
    },
    came(host) {
      host.lastSeenAtMs = clock.nowMs();
      changed.add(host);
      // Back before anyone was told that it left: a replaced connection is no news.
      if (moves.get(host) === 'offline') moves.delete(host);
      else moves.set(host, 'online');
    },
    went(host) {
      heard.add(host);
      if (moves.get(host) === 'online') moves.delete(host);
      else moves.set(host, 'offline');
    },
    flush,
    async close() {
      end();
      heardFlushedMs = Number.NEGATIVE_INFINITY;
      await flush();
    },
  };
}
