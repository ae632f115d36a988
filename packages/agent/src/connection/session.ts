import type { Clock } from '@gpufleet/shared/core';
import {
  type AgentMessage,
  agentPath,
  decodeServerMessage,
  encodeMessage,
  type Heartbeat,
  type Hello,
  type Proof,
  type ServerMessage,
  type Welcome,
} from '@gpufleet/shared/protocol';
import type { Log } from '../jobs/engine.ts';
import {
  type Link,
  type LinkEffect,
  type LinkEvent,
  type LinkSettings,
  linkSettings,
  stepLink,
  wakeAtMs,
} from './machine.ts';
import type { Connect, Connection } from './transport.ts';

/** More than this unsent means that the peer does not read: the connection is dropped, the outbox keeps what is owed. */
const maxUnsentBytes = 4 * 1024 * 1024;

export interface SessionDeps {
  serverUrl: string;
  clock: Clock;
  log: Log;
  /** In [0, 1). */
  random(): number;
  connect: Connect;
  settings?: Partial<LinkSettings>;
  /** Everything of the hello but its proof, read when it is sent. */
  describe(): Promise<Omit<Hello, 'type' | 'proof'>>;
  /** Signature over the challenge by the host's key. */
  prove(nonce: string): string;
  heartbeatAttempt(): Heartbeat['attempt'];
  sectionsDigest(): string | undefined;
  uptimeMs(): number;
  onTime(serverNowMs: number): void;
  onOnline(welcome: Welcome): void;
  onOffline(): void;
  onMessage(message: ServerMessage): void;
  /** Anything at all came from the server, an answer to a ping among it. */
  onHeard(): void;
  /** Every change of place, for the log and the status file. */
  onLink(link: Link, detail: string | null): void;
}

export interface Session {
  start(): void;
  /** Closes; true to its word within the transport's close grace. */
  stop(): void;
  /** False when offline or when the peer does not read: keep what must not be lost and send it again when online. */
  send(message: AgentMessage): boolean;
  link(): Link;
}

/** Carries out what the machine decides: one connection, one timer. */
export function createSession(deps: SessionDeps): Session {
  const { clock, log } = deps;
  const settings = { ...linkSettings, ...deps.settings };
  const url = toAgentUrl(deps.serverUrl);
  const unknownTypes = new Set<string>();
  let link: Link = { at: 'offline' };
  let ticket: string | null = null;
  let connection: Connection | undefined;
  let dials = 0;
  let cancelWake: (() => void) | undefined;
  let lastDetail: string | null = null;

  function handle(event: LinkEvent): void {
    const before = link.at;
    const stepped = stepLink(link, event, { nowMs: clock.monotonicMs(), random: deps.random(), ticket, settings });
    link = stepped.link;
    for (const effect of stepped.effects) carryOut(effect);
    schedule();
    if (link.at !== before) deps.onLink(link, lastDetail);
  }

  function schedule(): void {
    cancelWake?.();
    cancelWake = undefined;
    const atMs = wakeAtMs(link);
    if (atMs !== undefined)
      cancelWake = clock.after(Math.max(0, atMs - clock.monotonicMs()), () => handle({ type: 'tick' }));
  }

  function carryOut(effect: LinkEffect): void {
    switch (effect.do) {
      case 'dial':
        connection = open(effect.ticket);
        return;
      case 'close':
        abandon(effect.code, effect.reason);
        return;
      case 'send_hello':
        sendHello(effect.by);
        return;
      case 'send_heartbeat':
        transmit({
          type: 'heartbeat',
          seq: effect.seq,
          uptimeMs: deps.uptimeMs(),
          attempt: deps.heartbeatAttempt(),
          sectionsDigest: deps.sectionsDigest(),
        });
        return;
      case 'ping':
        connection?.ping();
        return;
      case 'learn_time':
        deps.onTime(effect.serverNowMs);
        return;
      case 'keep_ticket':
        ticket = effect.ticket;
        return;
      case 'begin_session':
        lastDetail = null;
        deps.onOnline(effect.welcome);
        return;
      case 'end_session':
        deps.onOffline();
        return;
      case 'deliver':
        deps.onMessage(effect.message);
        return;
    }
  }

  function open(withTicket: string | null): Connection {
    const headers: Record<string, string> = withTicket === null ? {} : { authorization: `Ticket ${withTicket}` };
    dials += 1;
    const dialled = dials;
    // Events of a connection that was given up belong to nobody.
    const ifCurrent = (action: () => void) => {
      if (dialled === dials) action();
    };
    return deps.connect(url, headers, {
      opened: () => ifCurrent(() => handle({ type: 'opened' })),
      text: (text) =>
        ifCurrent(() => {
          deps.onHeard();
          receive(text);
        }),
      heard: () =>
        ifCurrent(() => {
          deps.onHeard();
          handle({ type: 'heard' });
        }),
      closed: ({ detail, retryAfterMs }) =>
        ifCurrent(() => {
          connection = undefined;
          lastDetail = detail;
          handle({ type: 'closed', retryAfterMs });
        }),
    });
  }

  function abandon(code: number, reason: string): void {
    dials += 1;
    connection?.close(code, reason);
    connection = undefined;
  }

  function receive(text: string): void {
    const decoded = decodeServerMessage(text);
    if (decoded.ok) {
      if (decoded.message.type === 'rejection') lastDetail = decoded.message.detail;
      handle({ type: 'message', message: decoded.message });
      return;
    }
    handle({ type: 'heard' });
    if (decoded.because !== 'unknown_type') {
      log.warn({ reason: decoded.because, detail: decoded.detail }, 'message of the server was not understood');
      return;
    }
    if (unknownTypes.has(decoded.messageType) || unknownTypes.size >= maxUnknownTypes) return;
    unknownTypes.add(decoded.messageType);
    log.info({ messageType: decoded.messageType }, 'message type of a newer server ignored');
  }

  function sendHello(by: { ticket: string } | { nonce: string }): void {
    const dialled = dials;
    deps.describe().then(
      (description) => {
        // A challenge that came meanwhile is answered by its own hello.
        const isWanted = link.at === 'challenged' && link.hello === ('ticket' in by ? 'by_ticket' : 'by_key');
        if (dialled !== dials || !isWanted) return;
        const proof: Proof =
          'ticket' in by ? { by: 'ticket', ticket: by.ticket } : { by: 'key', signature: deps.prove(by.nonce) };
        transmit({ type: 'hello', ...description, proof });
      },
      (error: unknown) => log.error({ error: String(error) }, 'the hello could not be made'),
    );
  }

  function transmit(message: AgentMessage): boolean {
    if (connection === undefined) return false;
    if (connection.bufferedBytes() > maxUnsentBytes) {
      log.warn({ unsentBytes: connection.bufferedBytes() }, 'the server does not read: connection dropped');
      abandon(1013, 'too slow');
      lastDetail = 'the server does not read';
      handle({ type: 'closed', retryAfterMs: null });
      return false;
    }
    connection.send(encodeMessage(message));
    return true;
  }

  return {
    start: () => handle({ type: 'start' }),
    stop: () => handle({ type: 'stop' }),
    send: (message) => link.at === 'online' && transmit(message),
    link: () => link,
  };
}

const maxUnknownTypes = 50;

/** `https://fleet.example.com` → `wss://fleet.example.com/agent/v1`. */
export function toAgentUrl(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.protocol = url.protocol === 'https:' || url.protocol === 'wss:' ? 'wss:' : 'ws:';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${agentPath}`;
  url.search = '';
  url.hash = '';
  return url.toString();
}
