import { FleetError } from '@gpufleet/shared/core';
import { agentPath, type EnrollRequest, type EnrollResponse } from '@gpufleet/shared/protocol';
import { eq } from 'drizzle-orm';
import { type Db, signalCommit } from '../../db/index.ts';
import type { Deps } from '../../deps.ts';
import { hashSecret } from '../../http/secrets.ts';
import { recordAudit } from '../audit/index.ts';
import { recordEvent } from '../events/index.ts';
import { checkLabels, type HostRow, setLabels, unknownClass } from '../hosts/index.ts';
import { hostTable } from '../hosts/table.ts';
import { getSiteRow } from '../sites/index.ts';
import { type EnrollmentTokenRow, findEnrollmentToken, setUsesLeft } from '../tokens/index.ts';
import { provesPossession } from './verify-possession.ts';

export interface Enrollment {
  secret: string;
  request: EnrollRequest;
  requestId: string;
}

/**
 * One transaction: the token loses a use and the host is there, or neither. A key that is known already is the same host
 * again: a repeat after a lost answer costs no use, a decommissioned host comes back, a rejected one does not.
 */
export async function enrollHost(
  tx: Db,
  deps: Pick<Deps, 'clock' | 'newId' | 'signer'>,
  { secret, request, requestId }: Enrollment,
): Promise<EnrollResponse> {
  const nowMs = deps.clock.nowMs();
  const token = await findEnrollmentToken(tx, hashSecret(secret), nowMs);
  if (!token) throw badToken();
  const labels = checkLabels(request.labels);
  if (!provesPossession(request))
    throw new FleetError('bad_proof_of_possession', 'the signature was not made with the key that is being enrolled');
  const site = await getSiteRow(tx, token.siteId);
  const before = (await tx.select().from(hostTable).where(eq(hostTable.publicKey, request.publicKey)))[0];
  if (before?.status === 'rejected')
    throw new FleetError('host_revoked', `host ${before.name} was rejected: an operator must accept it`);
  const returns = before !== undefined && before.status !== 'decommissioned';
  if (!returns) await spendUse(tx, token);
  const fresh = site.requireApproval ? 'pending' : 'accepted';
  const status = returns ? before.status : fresh;
  const row = {
    siteId: site.id,
    name: request.name,
    status,
    statusReason: returns ? before.statusReason : null,
    machineFingerprint: request.machineFingerprint,
    agentVersion: request.agentVersion,
    version: (before?.version ?? 0) + 1,
  };
  const hostId = before?.id ?? deps.newId('host');
  // Later than the one before, whatever the clock says: tickets of an earlier enrolment are told by it.
  const enrolledAtMs = returns ? before.enrolledAtMs : Math.max(nowMs, (before?.enrolledAtMs ?? 0) + 1);
  if (before)
    await tx
      .update(hostTable)
      .set({ ...row, enrolledAtMs })
      .where(eq(hostTable.id, hostId));
  else
    await tx.insert(hostTable).values({ id: hostId, publicKey: request.publicKey, enrolledAtMs, ...row, ...newHost });
  if (!before || Object.keys(labels).length > 0) await setLabels(tx, hostId, labels);
  await recordAudit(tx, {
    atMs: nowMs,
    actor: `enrollment_token:${token.id}`,
    requestId,
    action: before ? 'host.re_enroll' : 'host.enroll',
    target: `host:${hostId}`,
    before: before ? { siteId: before.siteId, name: before.name, status: before.status } : null,
    after: { siteId: site.id, name: request.name, status, labels },
  });
  await recordEvent(tx, {
    atMs: nowMs,
    type: 'host.enrolled',
    siteId: site.id,
    hostId,
    data: { name: request.name, status, again: before !== undefined },
  });
  signalCommit(tx, 'hosts', hostId);
  return {
    hostId,
    siteId: site.id,
    // A quarantined host is a known one: what it may do is decided at each grant.
    status: status === 'pending' ? 'pending' : 'accepted',
    signingKeys: [{ keyId: deps.signer.keyId, publicKey: deps.signer.publicKey }],
    agentPath,
  };
}

export function badToken(): FleetError {
  return new FleetError('bad_enrollment_token', 'the enrolment token is wrong, expired, revoked or used up');
}

async function spendUse(tx: Db, token: EnrollmentTokenRow): Promise<void> {
  if (token.usesLeft < 1) throw badToken();
  await setUsesLeft(tx, token.id, token.usesLeft - 1);
}

/** Of a host that was never in session. */
const newHost = {
  bootId: null,
  capabilities: [],
  clockSkewMs: null,
  class: unknownClass,
  variant: '',
  lastSeenAtMs: null,
  sessionEpoch: 0,
} as const satisfies Partial<HostRow>;
