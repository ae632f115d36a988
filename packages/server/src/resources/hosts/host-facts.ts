import type { FactChange, FactEntry, PageQuery } from '@gpufleet/shared/api';
import { type Facts, factSchemas, type ProbeKey, probeKeys } from '@gpufleet/shared/probes';
import { and, desc, eq, lte, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Db, prepared } from '../../db/index.ts';
import { decodeCursor, encodeCursor, type Page } from '../../http/cursor.ts';
import { factChangeTable, hostFactTable } from './table.ts';

export type SectionRow = typeof hostFactTable.$inferSelect;

export async function listSectionRows(db: Db, hostId: string): Promise<SectionRow[]> {
  const ofHost = prepared(db, 'host_facts.of_host', (on) =>
    on
      .select()
      .from(hostFactTable)
      .where(eq(hostFactTable.hostId, sql.placeholder('hostId')))
      .orderBy(hostFactTable.name)
      .prepare(),
  );
  return ofHost.execute({ hostId });
}

export async function listFactEntries(db: Db, hostId: string): Promise<FactEntry[]> {
  const rows = await listSectionRows(db, hostId);
  return rows.map(({ name, hash, receivedAtMs, body }) => ({ name, hash, receivedAtMs, body: JSON.parse(body) }));
}

/** Newest first. A row holds several changes, so a cursor names the row and how many of its changes were given. */
export async function listFactChanges(db: Db, hostId: string, query: PageQuery): Promise<Page<FactChange>> {
  const from = decodeCursor(query.cursor, z.tuple([z.number(), z.number()]));
  const rows = await db
    .select()
    .from(factChangeTable)
    .where(and(eq(factChangeTable.hostId, hostId), from ? lte(factChangeTable.seq, from[0]) : undefined))
    .orderBy(desc(factChangeTable.seq))
    .limit(query.limit + 1);
  const changes = rows.flatMap(({ seq, atMs, name, changes: values }) =>
    values.map((value, index) => ({ seq, index, change: { atMs, name, ...value } })),
  );
  const rest = changes.filter(({ seq, index }) => !from || seq < from[0] || index >= from[1]);
  const next = rest[query.limit];
  return {
    items: rest.slice(0, query.limit).map(({ change }) => change),
    nextCursor: next ? encodeCursor([next.seq, next.index]) : null,
  };
}

/**
 * The host's last reported facts, parsed: what a plan or the host's class is made from. A fact that was never reported,
 * or that this build cannot read, is unreadable: never absent.
 */
export async function latestFacts(db: Db, hostId: string): Promise<Facts> {
  return toFacts(await listSectionRows(db, hostId));
}

export function toFacts(rows: readonly SectionRow[]): Facts {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const facts: Partial<Record<ProbeKey, unknown>> = {};
  for (const key of probeKeys) facts[key] = toFact(key, byName.get(key));
  // Each key of `probeKeys` has been given that key's own fact; a loop cannot tell the compiler.
  return facts as Facts;
}

function toFact<K extends ProbeKey>(key: K, row: SectionRow | undefined): Facts[K] {
  if (!row) return unreadable(0, 'not_reported', 'the host has not reported it');
  const parsed = factSchemas[key].safeParse(JSON.parse(row.body));
  if (parsed.success) return parsed.data as Facts[K];
  const issue = parsed.error.issues[0];
  const detail = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not as expected'}`;
  return unreadable(row.receivedAtMs, 'other_version', `reported in a form that this server does not know (${detail})`);
}

function unreadable<K extends ProbeKey>(readAtMs: number, because: string, detail: string): Facts[K] {
  return { readAtMs, how: [], value: null, unreadable: { because, detail }, partial: [] } as Facts[K];
}
