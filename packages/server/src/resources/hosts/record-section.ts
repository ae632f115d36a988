import { and, desc, eq, lte, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import type { ValueChange } from './diff-facts.ts';
import { factChangeTable, hostFactTable } from './table.ts';

export interface SectionReport {
  hostId: string;
  name: string;
  hash: string;
  /** The body as JSON text. */
  text: string;
  atMs: number;
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

/** `before` is the body that was replaced: null for the first, and where it was not asked for. */
export type Recorded = { isNew: false } | { isNew: true; before: string | null };

/** Keeps the section's body. The one before it is read only for who wants it: it may be as large as the new one. */
export async function recordSection(tx: Db, report: SectionReport, wantsBefore: boolean): Promise<Recorded> {
  const { hostId, name, hash, text, atMs } = report;
  const before = wantsBefore ? await findSection(tx, hostId, name) : await findSectionHash(tx, hostId, name);
  if (before?.hash === hash) return { isNew: false };
  await putSection(tx, { hostId, name, hash, body: text, receivedAtMs: atMs });
  return { isNew: true, before: before?.body ?? null };
}

export interface FactChanges {
  hostId: string;
  name: string;
  atMs: number;
  changes: ValueChange[];
}

/** Keeps what changed in a fact, and of each host only the newest `keep` such reports. */
export async function recordFactChanges(tx: Db, report: FactChanges, keep: number): Promise<void> {
  await addChanges(tx, report);
  await trimChanges(tx, report.hostId, keep);
}

async function findSection(tx: Db, hostId: string, name: string) {
  const section = prepared(tx, 'host_facts.one', (on) =>
    on
      .select({ hash: hostFactTable.hash, body: hostFactTable.body })
      .from(hostFactTable)
      .where(and(eq(hostFactTable.hostId, sql.placeholder('hostId')), eq(hostFactTable.name, sql.placeholder('name'))))
      .prepare(),
  );
  return (await section.execute({ hostId, name }))[0];
}

async function findSectionHash(
  tx: Db,
  hostId: string,
  name: string,
): Promise<{ hash: string; body: null } | undefined> {
  const section = prepared(tx, 'host_facts.one_hash', (on) =>
    on
      .select({ hash: hostFactTable.hash })
      .from(hostFactTable)
      .where(and(eq(hostFactTable.hostId, sql.placeholder('hostId')), eq(hostFactTable.name, sql.placeholder('name'))))
      .prepare(),
  );
  const hash = (await section.execute({ hostId, name }))[0]?.hash;
  return hash === undefined ? undefined : { hash, body: null };
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
