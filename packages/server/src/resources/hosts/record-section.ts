import type { Json } from '@gpufleet/shared/core';
import { and, desc, eq, lte, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import { diffFacts } from './diff-facts.ts';
import { factChangeTable, hostFactTable } from './table.ts';

export interface SectionReport {
  hostId: string;
  name: string;
  hash: string;
  body: Json;
  /** `body` as JSON text. */
  text: string;
  atMs: number;
  /** Reports with changes kept for each host. */
  keepChanges: number;
}

/** Hash of each stored section of a host. */
export async function listSectionHashes(db: Db, hostId: string): Promise<Record<string, string>> {
  const hashes = prepared(db, 'host_facts.hashes', (on) =>
    on
      .select({ name: hostFactTable.name, hash: hostFactTable.hash })
      .from(hostFactTable)
      .where(eq(hostFactTable.hostId, sql.placeholder('hostId')))
      .prepare(),
  );
  return Object.fromEntries((await hashes.execute({ hostId })).map((row) => [row.name, row.hash]));
}

/** Keeps the section's body and, for a fact, which values changed. Returns false when nothing was new. */
export async function recordSection(tx: Db, report: SectionReport): Promise<boolean> {
  const { hostId, name, hash, atMs } = report;
  const before = (await findSection(tx, hostId, name))[0];
  if (before?.hash === hash) return false;
  await putSection(tx, { hostId, name, hash, body: report.text, receivedAtMs: atMs });
  // The diagnosis has its own history: the findings.
  if (!before || name === 'diagnosis') return true;
  const changes = diffFacts(JSON.parse(before.body), report.body);
  if (changes.length === 0) return true;
  await addChanges(tx, { hostId, atMs, name, changes });
  await trimChanges(tx, hostId, report.keepChanges);
  return true;
}

async function findSection(tx: Db, hostId: string, name: string) {
  const section = prepared(tx, 'host_facts.one', (on) =>
    on
      .select({ hash: hostFactTable.hash, body: hostFactTable.body })
      .from(hostFactTable)
      .where(and(eq(hostFactTable.hostId, sql.placeholder('hostId')), eq(hostFactTable.name, sql.placeholder('name'))))
      .prepare(),
  );
  return section.execute({ hostId, name });
}

async function putSection(tx: Db, row: typeof hostFactTable.$inferInsert): Promise<void> {
  const put = prepared(tx, 'host_facts.put', (on) =>
    on
      .insert(hostFactTable)
      .values({
        hostId: sql.placeholder('hostId'),
        name: sql.placeholder('name'),
        hash: sql.placeholder('hash'),
        body: sql.placeholder('body'),
        receivedAtMs: sql.placeholder('receivedAtMs'),
      })
      .onConflictDoUpdate({
        target: [hostFactTable.hostId, hostFactTable.name],
        set: { hash: sql`excluded.hash`, body: sql`excluded.body`, receivedAtMs: sql`excluded.received_at_ms` },
      })
      .prepare(),
  );
  await put.execute({ ...row });
}

async function addChanges(tx: Db, row: typeof factChangeTable.$inferInsert): Promise<void> {
  const add = prepared(tx, 'fact_changes.add', (on) =>
    on
      .insert(factChangeTable)
      .values({
        hostId: sql.placeholder('hostId'),
        atMs: sql.placeholder('atMs'),
        name: sql.placeholder('name'),
        changes: sql.placeholder('changes'),
      })
      .prepare(),
  );
  await add.execute({ ...row });
}

async function trimChanges(tx: Db, hostId: string, keep: number): Promise<void> {
  const trim = prepared(tx, 'fact_changes.trim', (on) =>
    on
      .delete(factChangeTable)
      .where(
        and(
          eq(factChangeTable.hostId, sql.placeholder('hostId')),
          lte(
            factChangeTable.seq,
            on
              .select({ seq: factChangeTable.seq })
              .from(factChangeTable)
              .where(eq(factChangeTable.hostId, sql.placeholder('hostId')))
              .orderBy(desc(factChangeTable.seq))
              .limit(1)
              .offset(sql.placeholder('keep')),
          ),
        ),
      )
      .prepare(),
  );
  await trim.execute({ hostId, keep });
}
