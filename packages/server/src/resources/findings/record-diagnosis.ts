import type { Diagnosis, Finding } from '@gpufleet/shared/diagnosis';
import { and, eq, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { recordEvent } from '../events/index.ts';
import { foldFindings } from './fold-findings.ts';
import { findingTable } from './table.ts';

export interface DiagnosisReport {
  host: { id: string; siteId: string; name: string };
  diagnosis: Diagnosis;
  atMs: number;
  newId(prefix: string): string;
}

/** Folds a host's new diagnosis into its kept findings and tells what opened and what cleared. */
export async function recordDiagnosis(tx: Db, report: DiagnosisReport): Promise<void> {
  const { host, diagnosis, atMs } = report;
  const kept = await tx
    .select({
      id: findingTable.id,
      code: findingTable.code,
      subject: findingTable.subject,
      clearedAtMs: findingTable.clearedAtMs,
      openedCount: findingTable.openedCount,
    })
    .from(findingTable)
    .where(eq(findingTable.hostId, host.id));
  const { opened, reopened, seen, cleared } = foldFindings(kept, diagnosis);
  for (const finding of opened) {
    await tx.insert(findingTable).values({
      id: report.newId('finding'),
      hostId: host.id,
      code: finding.code,
      subject: finding.subject ?? '',
      ...contentOf(finding),
      firstSeenAtMs: atMs,
      lastSeenAtMs: atMs,
      clearedAtMs: null,
      openedCount: 1,
    });
    await tell('finding.opened', finding);
  }
  for (const { kept: before, finding } of reopened) {
    const openedCount = before.openedCount + 1;
    await tx
      .update(findingTable)
      .set({ ...contentOf(finding), lastSeenAtMs: atMs, clearedAtMs: null, openedCount })
      .where(eq(findingTable.id, before.id));
    await tell('finding.opened', finding);
  }
  for (const { kept: before, finding } of seen)
    await tx
      .update(findingTable)
      .set({ ...contentOf(finding), lastSeenAtMs: atMs })
      .where(eq(findingTable.id, before.id));
  for (const before of cleared) {
    await tx.update(findingTable).set({ clearedAtMs: atMs }).where(eq(findingTable.id, before.id));
    await tell('finding.cleared', { code: before.code, subject: before.subject === '' ? null : before.subject });
  }

  async function tell(type: string, finding: Pick<Finding, 'code' | 'subject'> & Partial<Finding>): Promise<void> {
    const { code, subject, severity, summary } = finding;
    const data = { code, subject, severity, summary, hostName: host.name };
    await recordEvent(tx, { atMs, type, siteId: host.siteId, hostId: host.id, data });
  }
}

function contentOf(finding: Finding) {
  return { severity: finding.severity, layer: finding.layer, body: finding };
}

/** A host that is gone has no open findings. */
export async function clearFindingsOf(tx: Db, hostId: string, atMs: number): Promise<void> {
  await tx
    .update(findingTable)
    .set({ clearedAtMs: atMs })
    .where(and(eq(findingTable.hostId, hostId), isNull(findingTable.clearedAtMs)));
}
