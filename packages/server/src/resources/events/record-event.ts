import { sql } from 'drizzle-orm';
import type { Db } from '../../db/database.ts';
import { prepared } from '../../db/prepared.ts';
import { toJson } from '../../db/to-json.ts';
import { signalCommit } from '../../db/write-context.ts';
import { shortData } from './short-data.ts';
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
  const add = prepared(tx, 'events.add', (on) =>
    on
      .insert(eventTable)
      .values({
        atMs: sql.placeholder('atMs'),
        type: sql.placeholder('type'),
        siteId: sql.placeholder('siteId'),
        hostId: sql.placeholder('hostId'),
        rolloutId: sql.placeholder('rolloutId'),
        data: sql.placeholder('data'),
      })
      .prepare(),
  );
  const { atMs, type, siteId = null, hostId = null, rolloutId = null } = event;
  await add.execute({ atMs, type, siteId, hostId, rolloutId, data: shortData(toJson(event.data ?? {})) });
  signalCommit(tx, 'events', event.type);
}
