import type { Db } from '../../db/database.ts';
import { toJson } from '../../db/to-json.ts';
import { signalCommit } from '../../db/write-context.ts';
import { eventTable } from './table.ts';

export interface EventRecord {
  atMs: number;
  /** `host.online`, `finding.opened`, `slot.changed`, `rollout.halted` … */
  type: string;
  siteId?: string | null;
  hostId?: string | null;
  rolloutId?: string | null;
  data?: unknown;
}

/** Tells the listeners of `/events`, once this write is committed. */
export async function recordEvent(tx: Db, event: EventRecord): Promise<void> {
  await tx.insert(eventTable).values({
    atMs: event.atMs,
    type: event.type,
    siteId: event.siteId ?? null,
    hostId: event.hostId ?? null,
    rolloutId: event.rolloutId ?? null,
    data: toJson(event.data ?? {}),
  });
  signalCommit('events', event.type);
}
