import type { Db } from '../../db/database.ts';
import { toJson } from '../../db/to-json.ts';
import { auditTable } from './table.ts';

export interface AuditRecord {
  atMs: number;
  /** `token:NAME`, `host:ID` or `system:PART`. */
  actor: string;
  requestId: string | null;
  /** `site.create`, `rollout.pause` … */
  action: string;
  /** `site:ID`, `host:ID` … */
  target: string;
  before?: unknown;
  after?: unknown;
}

/** Writes down who changed what; in the same transaction as the change. */
export async function recordAudit(tx: Db, record: AuditRecord): Promise<void> {
  await tx.insert(auditTable).values({
    atMs: record.atMs,
    actor: record.actor,
    action: record.action,
    target: record.target,
    requestId: record.requestId,
    before: toJson(record.before),
    after: toJson(record.after),
  });
}
