import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type AgentMessage,
  agentPath,
  decodeAgentMessage,
  type Hello,
  maxMessageBytes,
  protocolVersion,
  type Rejection,
  type ServerMessage,
} from '@gpufleet/shared/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Deps } from '../deps.ts';
import type { Metrics } from '../http/metrics.ts';
import { setHostStatus } from '../resources/hosts/index.ts';
import type { AttemptHandlers } from './attempt-handlers.ts';
import type { Gateway } from './gateway.ts';
import { type HostEntry, knownSections, openHostDirectory } from './host-directory.ts';
import { judgeHello, judgeSecondSession, judgeStatus } from './judge-hello.ts';
import { createPresence } from './presence.ts';
import { createSectionIntake } from './section-intake.ts';
import { startServerEpoch } from './server-epoch.ts';
import {
  enqueue,
  newSession,
  type OpenState,
  type Resumption,
  type Session,
  sendTo,
  takeAllowance,
} from './session.ts';
import { loadTicketSecret } from './ticket-secret.ts';
import { createTickets } from './tickets.ts';
import { createTurns } from './turns.ts';

const handshakeTimeoutMs = 10_000;
/** A peer that was told to go and does not is cut off. */
const closingTimeoutMs = 5_000;
/** A hello is far smaller; nobody has proved anything before it. */
const maxHelloCharacters = 128 * 1024;
/** What a host says of itself is kept in memory and shown in lists. */
const maxWordCharacters = 128;
const maxCapabilities = 64;
const rejectedCode = 1008;
const failedCode = 1011;
const sweepEveryMs = 1_000;
const maxHandshaking = 2_000;
const retryLaterMs = 30_000;
const duplicateRetryMs = 300_000;
const drainRetryMs = 2_000;

type Open = Extract<Session['state'], { at: 'open' }>;
type Other = Exclude<AgentMessage, { type: 'hello' | 'heartbeat' }>;

export interface RunningGateway {
  gateway: Gateway;
  /** Takes upgrades of this HTTP server from now on. */
  serve(server: Server, handlers: AttemptHandlers): void;
  /** Tells the agents to come back later, finishes what they sent, closes. */
  close(): Promise<void>;
}

/** The agents' side of the server. */
export async function createGateway(deps: Deps, metrics: Metrics): Promise<RunningGateway> {
  const { db, clock, log, config, signer } = deps;
  const epoch = await startServerEpoch(db);
  const directory = await openHostDirectory(db, log);
  const tickets = createTickets(await loadTicketSecret(deps), config.ticketTtlMs);
  const intake = createSectionIntake(deps);
  const presence = createPresence(deps);
  const turns = createTurns<Session>();
  const sessions = new Set<Session>();
  const live = new Map<string, Session>();
  const lastHeard = new Map<string, number>();
  const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes });
  let handlers: AttemptHandlers | undefined;
  let isDraining = false;

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', (error) => log.debug({ err: error }, 'agent socket failed'));
    const isBusy = isDraining || sessions.size - live.size >= maxHandshaking;
    if (request.url?.split('?')[0] !== agentPath || isBusy) {
      refuseUpgrade(socket, isBusy ? '503 Service Unavailable' : '404 Not Found');
      return;
    }
    const headerTicket = /^Ticket (\S{1,256})$/.exec(request.headers.authorization ?? '')?.[1];
    // The answer to the upgrade and the challenge leave together.
    socket.cork();
    webSockets.handleUpgrade(request, socket, head, (webSocket) => begin(webSocket, resume(headerTicket)));
    socket.uncork();
  }

  function resume(ticket: string | undefined): Resumption {
    if (ticket === undefined) return { by: 'nothing' };
    const host = directory.find(tickets.holderOf(ticket) ?? '');
    if (!host || !tickets.isValid(ticket, host, clock.nowMs())) return { by: 'void_ticket' };
    return { by: 'ticket', host, ticket };
  }

  function begin(socket: WebSocket, resumes: Resumption): void {
    const isChallenged = resumes.by !== 'ticket';
    const nonce = isChallenged ? deps.randomToken(24) : '';
    const session = newSession(socket, nonce, resumes, clock.monotonicMs());
    sessions.add(session);
    socket.on('error', (error) => log.debug({ err: error }, 'agent connection failed'));
    socket.on('close', (code) => ended(session, code));
    socket.on('message', (data, isBinary) => {
      // ws hands a message over as one Buffer: binaryType is left at its default.
      if (isBinary) reject(session, badMessage('messages are text'));
      else received(session, (data as Buffer).toString('utf8'));
    });
    // Who resumes by a ticket sends its hello without being asked.
    if (isChallenged) sendTo(session, { type: 'challenge', nonce, serverNowMs: clock.nowMs() });
  }

  function received(session: Session, text: string): void {
    const refusal = take(session, text);
    if (refusal) reject(session, refusal);
  }

  function askFor(session: Session, sections: readonly string[]): void {
    const ask = (names: readonly string[]) => sendTo(session, { type: 'want', sections: [...names] });
    turns.join(session, sections, ask, clock.monotonicMs());
  }

  /** What the agent believes to have reported is not what is stored: all of it is asked for, once a session. */
  function noteDrift(session: Session, state: OpenState, digest: string): void {
    const { drift, host } = state;
    if (drift.at === 'asked') return;
    if (drift.at === 'none' || drift.digest !== digest) {
      state.drift = { at: 'seen', digest };
      return;
    }
    state.drift = { at: 'asked' };
    log.warn({ hostId: host.id }, 'the stored report is not the one that the agent sent: asked for again');
    askFor(session, knownSections);
  }

  /** Heartbeats are answered at once; all else waits its turn. Returns why the session must end, if it must. */
  function take(session: Session, text: string): Omit<Rejection, 'type'> | undefined {
    const nowMs = clock.monotonicMs();
    const { state } = session;
    if (state.at === 'ended') return undefined;
    if (!takeAllowance(session, nowMs)) return badMessage('too many messages');
    if (state.at === 'handshaking' && text.length > maxHelloCharacters) return badMessage('the hello is too long');
    const decoded = decodeAgentMessage(text);
    const counted = decoded.ok ? decoded.message.type : decoded.because;
    metrics.agentMessages.set(counted, (metrics.agentMessages.get(counted) ?? 0) + 1);
    // An unknown type comes from a newer agent: ignored.
    if (!decoded.ok) return decoded.because === 'unknown_type' ? undefined : badMessage(decoded.detail);
    const { message } = decoded;
    session.lastHeardMs = nowMs;
    if (message.type === 'heartbeat' && state.at === 'open') {
      lastHeard.set(state.host.id, nowMs);
      presence.heard(state.host);
      if (message.sectionsDigest !== undefined && message.sectionsDigest !== state.host.sectionsDigest)
        noteDrift(session, state, message.sectionsDigest);
      sendTo(session, { type: 'heartbeat_ack', seq: message.seq });
      return undefined;
    }
    const isQueued = enqueue(
      session,
      () => handle(session, message, text),
      (error) => failed(session, error),
    );
    return isQueued ? undefined : { code: 'too_slow', detail: 'too many messages wait', retryAfterMs: retryLaterMs };
  }

  async function handle(session: Session, message: AgentMessage, text: string): Promise<void> {
    const { state } = session;
    if (state.at === 'handshaking' && message.type === 'hello') return greet(session, message);
    if (state.at !== 'open' || message.type === 'hello' || message.type === 'heartbeat')
      return reject(session, badMessage(`${message.type} is not expected now`));
    lastHeard.set(state.host.id, session.lastHeardMs);
    for (const answer of await answersTo(session, state, message, text)) sendTo(session, answer);
  }

  async function answersTo(session: Session, state: Open, message: Other, text: string): Promise<ServerMessage[]> {
    const to = required(handlers);
    const hostId = state.host.id;
    switch (message.type) {
      case 'section': {
        const taken = await intake.take(state.host, message, text);
        turns.received(session, message.name, clock.monotonicMs());
        if (taken.ok) return [{ type: 'section_ack', name: message.name, hash: message.hash }];
        reject(session, badMessage(taken.detail));
        return [];
      }
      case 'claim':
        return to.onClaim(hostId, message, { sessionEpoch: state.epoch, serverEpoch: epoch.current() });
      case 'decline':
        return to.onDecline(hostId, message);
      case 'progress':
        return to.onProgress(hostId, message);
      case 'result':
        return to.onResult(hostId, message);
    }
  }

  async function greet(session: Session, hello: Hello): Promise<void> {
    const known = directory.find(hello.hostId);
    const key = known && hello.proof.by === 'key' ? directory.keyOf(known) : undefined;
    const { nonce, resumes } = session;
    // Sent before the agent knew that its ticket is void: its answer to the challenge is on the way.
    if (resumes.by === 'void_ticket' && hello.proof.by === 'ticket') return;
    const verdict = judgeHello({ hello, nonce, host: known, key, resumes, tickets, nowMs: clock.nowMs() });
    if (!verdict.ok) return reject(session, verdict.rejection);
    const { host } = verdict;
    if (hello.serverEpochSeen > epoch.current()) await believeEpoch(host, hello.serverEpochSeen);
    let stale: string[];
    do {
      if (!(await settleSecondSession(session, host, hello))) return;
      stale = await intake.staleSections(host, hello.sectionHashes);
      // A third connection may have come in meanwhile: it is judged like the second.
    } while (live.has(host.id));
    // The agent may have gone, or its host been revoked, while the store was asked.
    if (session.state.at !== 'handshaking' || session.socket.readyState !== session.socket.OPEN) return;
    const revoked = judgeStatus(host);
    if (revoked) return reject(session, revoked);
    const state = open(session, host, hello);
    sendTo(session, welcomeOf(host, resumes, stale));
    askFor(session, stale);
    const info = { sessionEpoch: state.epoch, serverEpoch: epoch.current() };
    const answers = await required(handlers).onHello(host.id, hello, info);
    state.hasReconciled = true;
    for (const answer of answers) sendTo(session, answer);
  }

  async function believeEpoch(host: HostEntry, seen: number): Promise<void> {
    const isRaised = await epoch.raiseAbove(seen);
    log.warn(
      { hostId: host.id, seen },
      isRaised
        ? 'an agent has seen a later server: this store is an older copy'
        : 'an agent has seen a server epoch that no server of this store can have had: ignored',
    );
  }

  /** False when the two are one identity on two machines: both are gone then. */
  async function settleSecondSession(session: Session, host: HostEntry, hello: Hello): Promise<boolean> {
    const other = live.get(host.id);
    if (other?.state.at !== 'open') return true;
    const { instanceId, machineFingerprint } = other.state.hello;
    const identity = { instanceId, machineFingerprint, lastHeardMs: other.lastHeardMs };
    const silentAfterMs = 2 * config.heartbeatEveryMs;
    if (judgeSecondSession(identity, hello, clock.monotonicMs(), silentAfterMs) === 'replace') {
      // It is replaced, not gone: its end is no news.
      live.delete(host.id);
      sessions.delete(other);
      turns.leave(other, clock.monotonicMs());
      other.state = { at: 'ended' };
      other.socket.terminate();
      metrics.sessionsEnded.inc({ because: 'replaced' });
      // What it is in the middle of (a claim, perhaps) is done before the new session is told how things stand.
      await other.tail;
      return true;
    }
    const detail = 'two machines use the identity of this host: give one of them a key of its own';
    for (const each of [session, other])
      reject(each, { code: 'duplicate_identity', detail, retryAfterMs: duplicateRetryMs });
    log.warn({ hostId: host.id }, 'duplicate identity: host quarantined');
    const by = { actor: 'system:gateway', requestId: null };
    const change = {
      hostId: host.id,
      status: 'quarantined',
      reason: 'duplicate_identity',
      by,
      atMs: clock.nowMs(),
    } as const;
    await db.write((tx) => setHostStatus(tx, change));
    return false;
  }

  function open(session: Session, host: HostEntry, hello: Hello): Open {
    const skewMs = Math.round(hello.hostNowMs - clock.nowMs());
    host.sessionEpoch = epoch.nextSessionEpoch();
    host.agentVersion = hello.agentVersion.slice(0, maxWordCharacters);
    host.bootId = hello.bootId.slice(0, maxWordCharacters);
    host.capabilities = hello.capabilities.slice(0, maxCapabilities).map((kind) => kind.slice(0, maxWordCharacters));
    host.clockSkewMs = skewMs;
    host.machineFingerprint = hello.machineFingerprint.slice(0, maxWordCharacters);
    const state: Open = {
      at: 'open',
      host,
      hello,
      epoch: host.sessionEpoch,
      hasReconciled: false,
      drift: { at: 'none' },
    };
    session.state = state;
    live.set(host.id, session);
    lastHeard.set(host.id, session.lastHeardMs);
    presence.came(host);
    return state;
  }

  function welcomeOf(host: HostEntry, resumes: Resumption, staleSections: string[]): ServerMessage {
    return {
      type: 'welcome',
      protocolVersion,
      serverNowMs: clock.nowMs(),
      serverEpoch: epoch.current(),
      sessionEpoch: host.sessionEpoch,
      heartbeatEveryMs: config.heartbeatEveryMs,
      ticket:
        resumes.by === 'ticket'
          ? tickets.renew(resumes.ticket, host, clock.nowMs())
          : tickets.issue(host, clock.nowMs()),
      staleSections,
      signingKeyIds: [signer.keyId],
    };
  }

  function ended(session: Session, code: number): void {
    sessions.delete(session);
    leave(session, code);
  }

  /** Says why and closes. What the peer still sends is not listened to, whether or not it takes the close. */
  function reject(session: Session, rejection: Omit<Rejection, 'type'>): void {
    sendTo(session, { type: 'rejection', ...rejection });
    close(session, rejectedCode, rejection.code);
  }

  function close(session: Session, code: number, because: string): void {
    session.socket.close(code, because);
    leave(session, code);
  }

  /** The session ends now; its socket may need a while. */
  function leave(session: Session, code: number): void {
    const { state } = session;
    turns.leave(session, clock.monotonicMs());
    if (state.at === 'ended') return;
    session.state = { at: 'ended' };
    metrics.sessionsEnded.inc({ because: String(code) });
    if (state.at !== 'open') return;
    live.delete(state.host.id);
    presence.went(state.host);
    const { id: hostId } = state.host;
    required(handlers)
      .onGone(hostId)
      .catch((error: unknown) => log.error({ err: error, hostId }, 'end of session was not handled'));
  }

  function failed(session: Session, error: unknown): void {
    const hostId = session.state.at === 'open' ? session.state.host.id : undefined;
    log.error({ err: error, hostId }, 'agent message was not handled: session ended');
    // Nothing was acknowledged, so the agent tells it all again when it is back.
    close(session, failedCode, 'internal');
  }

  function sweep(): void {
    const nowMs = clock.monotonicMs();
    for (const session of sessions) {
      const isLate =
        (session.state.at === 'handshaking' && nowMs - session.openedMs > handshakeTimeoutMs) ||
        (session.state.at === 'ended' && nowMs - session.lastHeardMs > closingTimeoutMs);
      if (isLate || nowMs - session.lastHeardMs > config.offlineAfterMs) session.socket.terminate();
    }
    turns.sweep(nowMs);
  }

  function disconnect(hostId: string, code: 'revoked' | 'duplicate_identity', detail: string): void {
    const session = live.get(hostId);
    if (session) reject(session, { code, detail, retryAfterMs: null });
  }

  directory.onChange((host) => {
    if (host.status !== 'accepted' && host.status !== 'quarantined')
      disconnect(host.id, 'revoked', `the host is ${host.status}`);
  });
  const endSweep = clock.every(sweepEveryMs, sweep);
  const openState = (hostId: string): Open | undefined => {
    const state = live.get(hostId)?.state;
    return state?.at === 'open' ? state : undefined;
  };

  return {
    gateway: {
      isOnline: (hostId) => live.has(hostId),
      lastHeardMonotonicMs: (hostId) => lastHeard.get(hostId),
      sessionEpoch: (hostId) => openState(hostId)?.epoch,
      capabilities: (hostId) => openState(hostId)?.hello.capabilities,
      hasReconciled: (hostId) => openState(hostId)?.hasReconciled ?? false,
      send(hostId, message) {
        const session = live.get(hostId);
        return session !== undefined && sendTo(session, message);
      },
      disconnect,
      onlineCount: () => live.size,
      serverEpoch: () => epoch.current(),
    },
    serve(server, attemptHandlers) {
      handlers = attemptHandlers;
      server.on('upgrade', upgrade);
    },
    async close() {
      isDraining = true;
      endSweep();
      for (const session of sessions) sendTo(session, { type: 'drain', retryAfterMs: drainRetryMs });
      await Promise.all([...sessions].map((session) => session.tail));
      const closing = [...sessions].map(
        (session) => new Promise<void>((resolve) => session.socket.once('close', () => resolve())),
      );
      for (const session of sessions) session.socket.close(1001, 'going away');
      const cutOff = clock.after(1_000, () => {
        for (const session of sessions) session.socket.terminate();
      });
      await Promise.all(closing);
      cutOff();
      directory.close();
      await intake.close();
      await presence.close();
    },
  };
}

function badMessage(detail: string) {
  return { code: 'bad_message', detail, retryAfterMs: retryLaterMs } as const;
}

function required(handlers: AttemptHandlers | undefined): AttemptHandlers {
  if (!handlers) throw new Error('the gateway got a connection before serve()');
  return handlers;
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
