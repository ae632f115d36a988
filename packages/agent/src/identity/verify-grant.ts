import { toCanonicalJson } from '@gpufleet/shared/core';
import type { JobRequest } from '@gpufleet/shared/jobs';
import { Grant, grantSigningPrefix, type SignedGrant } from '@gpufleet/shared/protocol';
import { isSignedBy } from './key.ts';

export type GrantRefusal =
  | 'unknown_signing_key'
  | 'bad_signature'
  | 'bad_grant'
  | 'foreign_host'
  | 'server_time_unknown'
  | 'not_yet_valid'
  | 'expired'
  | 'not_claimed'
  | 'other_request'
  | 'plan_changed'
  | 'stale_session'
  | 'stale_server';

/** `replayed`: true to its signature and host, but taken before; the engine is asked for its result only. */
export type VerifiedGrant =
  | { ok: true; grant: Grant }
  | { ok: false; because: 'replayed'; detail: string; grant: Grant }
  | { ok: false; because: GrantRefusal; detail: string };

export interface GrantCheck {
  hostId: string;
  /** Pinned at enrolment. */
  signingKeys: readonly { keyId: string; publicKey: string }[];
  serverNowMs: number | undefined;
  serverEpoch: number;
  sessionEpoch: number;
  /** What this agent claimed in this session, by attempt id. */
  claimed(attemptId: string): { jobId: string; request: JobRequest; planHash: string | null } | undefined;
  /** Has a grant with this attempt id or nonce been taken before, ever? */
  isSeen(grant: Grant): boolean;
}

/** The server's and the host's idea of one moment may differ by the time a message takes. */
const skewMs = 30_000;

/** Nothing is done without this saying ok. The signature comes first: nothing unsigned is even read. */
export function verifyGrant(signed: SignedGrant, check: GrantCheck): VerifiedGrant {
  const key = check.signingKeys.find((pinned) => pinned.keyId === signed.keyId);
  if (!key) return refuse('unknown_signing_key', `no pinned key is named ${signed.keyId.slice(0, 64)}`);
  if (!isSignedBy(key.publicKey, grantSigningPrefix + signed.payload, signed.signature))
    return refuse('bad_signature', 'the signature is not one of the pinned key over this grant');
  const grant = parseGrant(signed.payload);
  if (!grant) return refuse('bad_grant', 'the signed payload is not a grant of a known version');
  if (grant.hostId !== check.hostId) return refuse('foreign_host', 'the grant is for another host');
  if (check.isSeen(grant))
    return { ok: false, because: 'replayed', detail: 'a grant of this attempt was taken before', grant };
  if (check.serverNowMs === undefined) return refuse('server_time_unknown', 'no server has told its time yet');
  if (check.serverNowMs + skewMs < grant.notBeforeMs) return refuse('not_yet_valid', 'the grant is for later');
  if (check.serverNowMs >= grant.expiresAtMs) return refuse('expired', 'the grant has expired');
  if (grant.serverEpoch !== check.serverEpoch)
    return refuse('stale_server', `granted in server epoch ${grant.serverEpoch}, now ${check.serverEpoch}`);
  if (grant.sessionEpoch !== check.sessionEpoch)
    return refuse('stale_session', `granted in session epoch ${grant.sessionEpoch}, now ${check.sessionEpoch}`);
  const claimed = check.claimed(grant.attemptId);
  if (!claimed) return refuse('not_claimed', 'this agent claimed no such attempt in this session');
  if (claimed.jobId !== grant.jobId || toCanonicalJson(claimed.request) !== toCanonicalJson(grant.request))
    return refuse('other_request', 'the grant is for another request than the one offered');
  if (grant.planHash !== null && grant.planHash !== claimed.planHash)
    return refuse('plan_changed', 'the grant is for another plan than the one claimed');
  return { ok: true, grant };
}

function parseGrant(payload: string): Grant | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    // Signed and yet not JSON: a control plane of another make. The caller says so.
    return undefined;
  }
  const parsed = Grant.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

function refuse(because: GrantRefusal, detail: string): VerifiedGrant {
  return { ok: false, because, detail };
}
