import { type KeyObject, verify } from 'node:crypto';
import { challengeBytes, type Hello, oldestProtocolVersion, type Rejection } from '@gpufleet/shared/protocol';
import type { HostEntry } from './host-directory.ts';
import type { Resumption } from './session.ts';
import type { Tickets } from './tickets.ts';

export interface HelloContext {
  hello: Hello;
  nonce: string;
  host: HostEntry | undefined;
  key: KeyObject | undefined;
  /** What the ticket of the upgrade proved. */
  resumes: Resumption;
  tickets: Tickets;
  nowMs: number;
}

export type Verdict = { ok: true; host: HostEntry } | { ok: false; rejection: Rejection };

const pendingRetryMs = 30_000;

/** Whether a hello may begin a session. Possession is proved before anything is said about the host. */
export function judgeHello(context: HelloContext): Verdict {
  const { hello, host } = context;
  if (hello.protocolVersion < oldestProtocolVersion)
    return reject('protocol_unsupported', `protocol ${hello.protocolVersion} is too old: update the agent`);
  if (!host) return reject('unknown_host', 'this server knows no such host: enrol it');
  if (!isProven(context, host)) {
    const isStaleTicket = hello.proof.by === 'ticket';
    // The agent drops the ticket and comes back with its key, at once.
    return reject(
      'bad_proof',
      isStaleTicket ? 'the ticket is void' : 'the signature is wrong',
      isStaleTicket ? 0 : null,
    );
  }
  const rejection = judgeStatus(host);
  return rejection ? { ok: false, rejection } : { ok: true, host };
}

/** Why a host that has proved itself may not have a session now; undefined: it may. */
export function judgeStatus({ status }: Pick<HostEntry, 'status'>): Rejection | undefined {
  if (status === 'decommissioned' || status === 'rejected') return rejectionOf('revoked', `the host is ${status}`);
  if (status === 'pending') return rejectionOf('pending_approval', 'an operator must accept this host', pendingRetryMs);
  return undefined;
}

function isProven({ hello, nonce, key, resumes, tickets, nowMs }: HelloContext, host: HostEntry): boolean {
  // The ticket was valid at the upgrade, for that enrolment of that host.
  if (resumes.by === 'ticket') return resumes.host === host && resumes.enrolledAtMs === host.enrolledAtMs;
  if (hello.proof.by === 'ticket') return tickets.isValid(hello.proof.ticket, host, nowMs);
  if (!key) return false;
  const signature = Buffer.from(hello.proof.signature, 'base64url');
  return verify(null, Buffer.from(challengeBytes(hello.hostId, nonce)), key, signature);
}

function reject(code: Rejection['code'], detail: string, retryAfterMs: number | null = null): Verdict {
  return { ok: false, rejection: rejectionOf(code, detail, retryAfterMs) };
}

function rejectionOf(code: Rejection['code'], detail: string, retryAfterMs: number | null = null): Rejection {
  return { type: 'rejection', code, detail, retryAfterMs };
}

/** What a live session says of its agent, as far as a second one is judged by it. */
export interface LiveIdentity {
  instanceId: string;
  machineFingerprint: string;
  /** Monotonic. */
  lastHeardMs: number;
}

/**
 * A second session of the same host. The same machine (or a session that has gone silent) is a reconnect: the newer one
 * stays. Two processes on two machines with one key, both alive, are a clone: neither can be told from the other.
 */
export function judgeSecondSession(
  live: LiveIdentity,
  hello: Pick<Hello, 'instanceId' | 'machineFingerprint'>,
  nowMs: number,
  silentAfterMs: number,
): 'replace' | 'duplicate' {
  if (live.instanceId === hello.instanceId || live.machineFingerprint === hello.machineFingerprint) return 'replace';
  return nowMs - live.lastHeardMs > silentAfterMs ? 'replace' : 'duplicate';
}
