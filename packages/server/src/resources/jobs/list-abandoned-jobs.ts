import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { hostTable } from '../hosts/table.ts';
import type { AttemptRow } from './attempt-store.ts';
import type { JobRow } from './job-store.ts';
import { attemptTable, jobTable } from './table.ts';

/** A job of one host that nobody will ever carry out, or say the end of. */
export interface Abandoned {
  job: JobRow;
  /** The attempt that was granted, if one was. */
  granted: AttemptRow | null;
}

/** Jobs outside any rollout that have not ended and whose host is decommissioned. */
export async function listAbandonedManualJobs(db: Db): Promise<Abandoned[]> {
  return db
    .select({ job: jobTable, granted: attemptTable })
    .from(jobTable)
    .innerJoin(hostTable, and(eq(hostTable.id, jobTable.hostId), eq(hostTable.status, 'decommissioned')))
    .leftJoin(attemptTable, and(eq(attemptTable.jobId, jobTable.id), eq(attemptTable.state, 'granted')))
    .where(and(inArray(jobTable.state, ['queued', 'running', 'unknown']), isNull(jobTable.slotId)));
}
