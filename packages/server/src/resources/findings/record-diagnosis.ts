import type { FindingTurn } from '@gpufleet/shared/api';
import type { Diagnosis, Finding } from '@gpufleet/shared/diagnosis';
import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { recordEvent } from '../events/index.ts';
import { foldFindings } from './fold-findings.ts';
import { findingTable } from './table.ts';

/** What one host may have in the store at once: a stolen one could else fill it with ever new findings. */
const maxKept = 1_000;
/** More findings, or longer ones, no agent of ours reports. */
const maxReported = 500;
const maxFindingCharacters = 32 * 1024;
/** Of one that comes and goes for months the newest turns tell enough. */
const maxTurns = 50;

export interface DiagnosisReport {
  host: { id: string; siteId: string; name: string };
  diagnosis: Diagnosis;
  atMs: number;
  newId(prefix: string): string;
}

/** Folds a host's new diagnosis into its kept findings and tells what opened and what cleared. */
export async function recordDiagnosis(tx: Db, report: DiagnosisReport): Promise<void> {
  const { host, atMs } = report;
  const diagnosis = withinReason(report.diagnosis);
  const kept = await tx
    .select({
      id: findingTable.id,
      code: findingTable.code,
      subject: findingTable.subject,
      clearedAtMs: findingTable.clearedAtMs,
      openedCount: findingTable.openedCount,
      severity: findingTable.severity,
      turns: findingTable.turns,
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
      openedAtMs: atMs,
      clearedAtMs: null,
      openedCount: 1,
      turns: [{ atMs, turn: 'opened', severity: finding.severity }],
    });
    await tell('finding.opened', finding);
  }
  for (const { kept: before, finding } of reopened) {
    const again = {
      openedAtMs: atMs,
      clearedAtMs: null,
      openedCount: before.openedCount + 1,
      turns: addTurn(before.turns, { atMs, turn: 'reopened', severity: finding.severity }),
    };
    await tx
      .update(findingTable)
      .set({ ...contentOf(finding), lastSeenAtMs: atMs, ...again })
      .where(eq(findingTable.id, before.id));
    await tell('finding.opened', finding);
  }
  for (const { kept: before, finding } of seen) {
    const { severity } = finding;
    const turns =
      severity === before.severity ? {} : { turns: addTurn(before.turns, { atMs, turn: 'severity', severity }) };
    await tx
      .update(findingTable)
      .set({ ...contentOf(finding), lastSeenAtMs: atMs, ...turns })
      .where(eq(findingTable.id, before.id));
  }
  for (const before of cleared) {
    const turns = addTurn(before.turns, { atMs, turn: 'cleared', severity: before.severity });
    await tx.update(findingTable).set({ clearedAtMs: atMs, turns }).where(eq(findingTable.id, before.id));
    await tell('finding.cleared', { code: before.code, subject: before.subject === '' ? null : before.subject });
  }
  await makeRoom(tx, host.id, kept.length + opened.length - maxKept);

  async function tell(type: string, finding: Pick<Finding, 'code' | 'subject'> & Partial<Finding>): Promise<void> {
    const { code, subject, severity, summary } = finding;
    const data = { code, subject, severity, summary, hostName: host.name };
    await recordEvent(tx, { atMs, type, siteId: host.siteId, hostId: host.id, data });
  }
}

function withinReason({ findings, cannotTell }: Diagnosis): Diagnosis {
  const isShort = (finding: Finding) => JSON.stringify(finding).length <= maxFindingCharacters;
  return { findings: findings.slice(0, maxReported).filter(isShort), cannotTell };
}

function addTurn(turns: readonly FindingTurn[], turn: FindingTurn): FindingTurn[] {
  return [...turns, turn].slice(-maxTurns);
}

/** Those that were cleared longest ago go first, then those that no report has named for longest. */
async function makeRoom(tx: Db, hostId: string, count: number): Promise<void> {
  if (count <= 0) return;
  const oldest = tx
    .select({ id: findingTable.id })
    .from(findingTable)
    .where(eq(findingTable.hostId, hostId))
    .orderBy(isNull(findingTable.clearedAtMs), findingTable.clearedAtMs, findingTable.lastSeenAtMs, findingTable.id)
    .limit(count);
  await tx.delete(findingTable).where(inArray(findingTable.id, oldest));
}

function contentOf(finding: Finding) {
  return { severity: finding.severity, layer: finding.layer, body: finding };
}

/** A host that is gone has no open findings. */
export async function clearFindingsOf(tx: Db, hostId: string, atMs: number): Promise<void> {
  const open = await tx
    .select({ id: findingTable.id, severity: findingTable.severity, turns: findingTable.turns })
    .from(findingTable)
    .where(and(eq(findingTable.hostId, hostId), isNull(findingTable.clearedAtMs)));
  for (const { id, severity, turns } of open)
    await tx
      .update(findingTable)
      .set({ clearedAtMs: atMs, turns: addTurn(turns, { atMs, turn: 'cleared', severity }) })
      .where(eq(findingTable.id, id));
}
