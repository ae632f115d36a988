import type { FleetEvent } from '@gpufleet/shared/api';
import { asc, desc, gt, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { eventTable } from './table.ts';

export async function listEventsAfter(db: Db, id: number, limit: number): Promise<FleetEvent[]> {
  const after = prepared(db, 'events.after', (on) =>
    on
      .select()
      .from(eventTable)
      .where(gt(eventTable.id, sql.placeholder('id')))
      .orderBy(asc(eventTable.id))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  return after.execute({ id, limit });
}

export async function latestEventId(db: Db): Promise<number> {
  const rows = await db.select({ id: eventTable.id }).from(eventTable).orderBy(desc(eventTable.id)).limit(1);
  return rows[0]?.id ?? 0;
}

export async function oldestEventId(db: Db): Promise<number | undefined> {
  const rows = await db.select({ id: eventTable.id }).from(eventTable).orderBy(asc(eventTable.id)).limit(1);
  return rows[0]?.id;
}
