import type { FactEntry, PageQuery } from '@gpufleet/shared/api';
import { type Facts, factSchemas, type ProbeKey, probeKeys } from '@gpufleet/shared/probes';
import { and, eq, gt, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { decodeCursor, type Page, TextCursor, toPage } from '../../http/cursor.ts';
import { hostFactTable } from './table.ts';

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

/** By name. */
export async function listFactEntries(db: Db, hostId: string, query: PageQuery): Promise<Page<FactEntry>> {
  const after = decodeCursor(query.cursor, TextCursor);
  const rows = await db
    .select()
    .from(hostFactTable)
    .where(and(eq(hostFactTable.hostId, hostId), after ? gt(hostFactTable.name, after[0]) : undefined))
    .orderBy(hostFactTable.name)
    .limit(query.limit + 1);
  const items = rows.map(({ name, hash, receivedAtMs, body }) => ({
    name,
    hash,
    receivedAtMs,
    body: JSON.parse(body),
  }));
  return toPage(items, query.limit, ({ name }) => [name]);
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
