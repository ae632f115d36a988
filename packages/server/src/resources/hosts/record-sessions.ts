import { eq, sql } from 'drizzle-orm';
import { type Db, prepared } from '../../db/index.ts';
import type { HostRow } from './host-store.ts';
import { hostTable } from './table.ts';

export type SessionValues = Pick<
  HostRow,
  | 'id'
  | 'lastSeenAtMs'
  | 'sessionEpoch'
  | 'agentVersion'
  | 'bootId'
  | 'capabilities'
  | 'clockSkewMs'
  | 'machineFingerprint'
>;

/** Writes down what sessions said of their hosts since the last time; many hosts in one write. */
export async function recordSessions(tx: Db, sessions: readonly SessionValues[]): Promise<void> {
  const put = prepared(tx, 'hosts.session', (on) =>
    on
      .update(hostTable)
      .set({
        lastSeenAtMs: sql`${sql.placeholder('lastSeenAtMs')}`,
        sessionEpoch: sql`${sql.placeholder('sessionEpoch')}`,
        agentVersion: sql`${sql.placeholder('agentVersion')}`,
        bootId: sql`${sql.placeholder('bootId')}`,
        capabilities: sql`${sql.placeholder('capabilities')}`,
        clockSkewMs: sql`${sql.placeholder('clockSkewMs')}`,
        machineFingerprint: sql`${sql.placeholder('machineFingerprint')}`,
      })
      .where(eq(hostTable.id, sql.placeholder('id')))
      .prepare(),
  );
  // A bare placeholder knows no column, so JSON is written here.
  for (const session of sessions) await put.execute({ ...session, capabilities: JSON.stringify(session.capabilities) });
}
