import { type Hello, protocolVersion, type ServerMessage } from '@gpufleet/shared/protocol';
import { setHostStatus } from '../resources/hosts/index.ts';
import { askFor } from './ask-for-sections.ts';
import type { GatewayParts } from './gateway-parts.ts';
import type { HostEntry } from './host-directory.ts';
import { judgeHello, judgeSecondSession, judgeStatus } from './judge-hello.ts';
import { type OpenState, type Resumption, type Session, sendTo } from './session.ts';

/** What a host says of itself is kept in memory and shown in lists. */
const maxWordCharacters = 128;
const maxCapabilities = 64;
const duplicateRetryMs = 300_000;

/** Judges a hello, settles it with another session of the same host, and welcomes it. */
export async function admitHello(parts: GatewayParts, session: Session, hello: Hello): Promise<void> {
  const { deps, epoch, directory, tickets, intake, sessions } = parts;
  const known = directory.find(hello.hostId);
  const key = known && hello.proof.by === 'key' ? directory.keyOf(known) : undefined;
  const { nonce, resumes } = session;
  // Sent before the agent knew that its ticket is void: its answer to the challenge is on the way.
  if (resumes.by === 'void_ticket' && hello.proof.by === 'ticket') return;
  const verdict = judgeHello({ hello, nonce, host: known, key, resumes, tickets, nowMs: deps.clock.nowMs() });
  if (!verdict.ok) return sessions.reject(session, verdict.rejection);
  const { host } = verdict;
  if (hello.serverEpochSeen > epoch.current()) await believeEpoch(parts, host, hello.serverEpochSeen);
  let stale: string[];
  do {
    if (!(await settleSecondSession(parts, session, host, hello))) return;
    stale = await intake.staleSections(host, hello.sectionHashes);
    // A third connection may have come in meanwhile: it is judged like the second.
  } while (sessions.liveOf(host.id) !== undefined);
  // The agent may have gone, or its host been revoked, while the store was asked.
  if (session.state.at !== 'handshaking' || session.socket.readyState !== session.socket.OPEN) return;
  const revoked = judgeStatus(host);
  if (revoked) return sessions.reject(session, revoked);
  const state = open(parts, session, host, hello);
  sendTo(session, welcomeOf(parts, host, resumes, stale));
  askFor(parts, session, stale);
  const info = { sessionEpoch: state.epoch, serverEpoch: epoch.current() };
  const answers = await parts.handlers().onHello(host.id, hello, info);
  state.hasReconciled = true;
  for (const answer of answers) sendTo(session, answer);
}

async function believeEpoch({ deps, epoch }: GatewayParts, host: HostEntry, seen: number): Promise<void> {
  const isRaised = await epoch.raiseAbove(seen);
  deps.log.warn(
    { hostId: host.id, seen },
    isRaised
      ? 'an agent has seen a later server: this store is an older copy'
      : 'an agent has seen a server epoch that no server of this store can have had: ignored',
  );
}

/** False when the two are one identity on two machines: both are gone then. */
async function settleSecondSession(
  { deps, sessions }: GatewayParts,
  session: Session,
  host: HostEntry,
  hello: Hello,
): Promise<boolean> {
  const { db, clock, log, config } = deps;
  const other = sessions.liveOf(host.id);
  if (other?.state.at !== 'open') return true;
  const { instanceId, machineFingerprint } = other.state.hello;
  const identity = { instanceId, machineFingerprint, lastHeardMs: other.lastHeardMs };
  const silentAfterMs = 2 * config.heartbeatEveryMs;
  if (judgeSecondSession(identity, hello, clock.monotonicMs(), silentAfterMs) === 'replace') {
    // What it is in the middle of (a claim, perhaps) is done before the new session is told how things stand.
    await sessions.replace(other);
    return true;
  }
  const detail = 'two machines use the identity of this host: give one of them a key of its own';
  for (const each of [session, other])
    sessions.reject(each, { code: 'duplicate_identity', detail, retryAfterMs: duplicateRetryMs });
  log.warn({ hostId: host.id }, 'duplicate identity: host quarantined');
  const by = { actor: 'system:gateway', requestId: null };
  const atMs = clock.nowMs();
  const change = { hostId: host.id, status: 'quarantined', reason: 'duplicate_identity', by, atMs } as const;
  await db.write((tx) => setHostStatus(tx, change));
  return false;
}

function open({ deps, epoch, sessions }: GatewayParts, session: Session, host: HostEntry, hello: Hello): OpenState {
  host.sessionEpoch = epoch.nextSessionEpoch();
  host.agentVersion = hello.agentVersion.slice(0, maxWordCharacters);
  host.bootId = hello.bootId.slice(0, maxWordCharacters);
  host.capabilities = hello.capabilities.slice(0, maxCapabilities).map((kind) => kind.slice(0, maxWordCharacters));
  host.clockSkewMs = Math.round(hello.hostNowMs - deps.clock.nowMs());
  host.machineFingerprint = hello.machineFingerprint.slice(0, maxWordCharacters);
  const state: OpenState = {
    at: 'open',
    host,
    hello,
    epoch: host.sessionEpoch,
    hasReconciled: false,
    drift: { at: 'none' },
  };
  sessions.open(session, state);
  return state;
}

function welcomeOf(
  { deps, epoch, tickets }: GatewayParts,
  host: HostEntry,
  resumes: Resumption,
  staleSections: string[],
): ServerMessage {
  const nowMs = deps.clock.nowMs();
  return {
    type: 'welcome',
    protocolVersion,
    serverNowMs: nowMs,
    serverEpoch: epoch.current(),
    sessionEpoch: host.sessionEpoch,
    heartbeatEveryMs: deps.config.heartbeatEveryMs,
    ticket: resumes.by === 'ticket' ? tickets.renew(resumes.ticket, host, nowMs) : tickets.issue(host, nowMs),
    staleSections,
    signingKeyIds: [deps.signer.keyId],
  };
}
