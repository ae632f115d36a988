import type { Rejection } from '@gpufleet/shared/protocol';
import type { Deps } from '../deps.ts';
import type { Metrics } from '../http/metrics.ts';
import type { AttemptHandlers } from './attempt-handlers.ts';
import type { Presence } from './presence.ts';
import { type OpenState, type Session, sendTo } from './session.ts';
import type { Turns } from './turns.ts';

const handshakeTimeoutMs = 10_000;
/** A peer that was told to go and does not is cut off. */
const closingTimeoutMs = 5_000;
const sweepEveryMs = 1_000;
const maxHandshaking = 2_000;
const drainRetryMs = 2_000;
const drainTimeoutMs = 1_000;
const closeCode = { goingAway: 1001, rejected: 1008, failed: 1011 };

/** Every connection, which of them is the live one of its host, and how each of them ends. */
export interface Sessions {
  add(session: Session): void;
  /** Takes no further connection: too many have not said who they are, or it drains. */
  isBusy(): boolean;
  liveOf(hostId: string): Session | undefined;
  openStateOf(hostId: string): OpenState | undefined;
  onlineCount(): number;
  noteHeard(hostId: string, atMs: number): void;
  /** Monotonic; undefined: not since the start. */
  lastHeardMs(hostId: string): number | undefined;
  /** From now on this is the live session of its host. */
  open(session: Session, state: OpenState): void;
  /** Says why and closes. What the peer still sends is not listened to, whether or not it takes the close. */
  reject(session: Session, rejection: Omit<Rejection, 'type'>): void;
  /** Handling one of its messages threw. */
  fail(session: Session, error: unknown): void;
  /** A newer session of the same host takes over. Resolves when nothing of this one is in work any more. */
  replace(session: Session): Promise<void>;
  /** Its socket has closed. */
  closed(session: Session, code: number): void;
  /** Tells the agents to come back later, finishes what they sent, closes. */
  drain(): Promise<void>;
}

export interface SessionsParts {
  deps: Pick<Deps, 'clock' | 'log' | 'config'>;
  metrics: Metrics;
  presence: Presence;
  turns: Turns<Session>;
  handlers(): AttemptHandlers;
}

export function createSessions({ deps, metrics, presence, turns, handlers }: SessionsParts): Sessions {
  const { clock, log, config } = deps;
  const all = new Set<Session>();
  const live = new Map<string, Session>();
  const lastHeard = new Map<string, number>();
  let isDraining = false;

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
    handlers()
      .onGone(hostId)
      .catch((error: unknown) => log.error({ err: error, hostId }, 'end of session was not handled'));
  }

  function sweep(): void {
    const nowMs = clock.monotonicMs();
    for (const session of all) {
      const isLate =
        (session.state.at === 'handshaking' && nowMs - session.openedMs > handshakeTimeoutMs) ||
        (session.state.at === 'ended' && nowMs - session.lastHeardMs > closingTimeoutMs);
      if (isLate || nowMs - session.lastHeardMs > config.offlineAfterMs) session.socket.terminate();
    }
    turns.sweep(nowMs);
  }

  const endSweep = clock.every(sweepEveryMs, sweep);

  return {
    add: (session) => all.add(session),
    isBusy: () => isDraining || all.size - live.size >= maxHandshaking,
    liveOf: (hostId) => live.get(hostId),
    openStateOf(hostId) {
      const state = live.get(hostId)?.state;
      return state?.at === 'open' ? state : undefined;
    },
    onlineCount: () => live.size,
    noteHeard: (hostId, atMs) => lastHeard.set(hostId, atMs),
    lastHeardMs: (hostId) => lastHeard.get(hostId),
    open(session, state) {
      session.state = state;
      live.set(state.host.id, session);
      lastHeard.set(state.host.id, session.lastHeardMs);
      presence.came(state.host);
    },
    reject(session, rejection) {
      sendTo(session, { type: 'rejection', ...rejection });
      close(session, closeCode.rejected, rejection.code);
    },
    fail(session, error) {
      const hostId = session.state.at === 'open' ? session.state.host.id : undefined;
      log.error({ err: error, hostId }, 'agent message was not handled: session ended');
      // Nothing was acknowledged, so the agent tells it all again when it is back.
      close(session, closeCode.failed, 'internal');
    },
    async replace(session) {
      // It is replaced, not gone: its end is no news.
      if (session.state.at === 'open') live.delete(session.state.host.id);
      all.delete(session);
      turns.leave(session, clock.monotonicMs());
      session.state = { at: 'ended' };
      session.socket.terminate();
      metrics.sessionsEnded.inc({ because: 'replaced' });
      await session.tail;
    },
    closed(session, code) {
      all.delete(session);
      leave(session, code);
    },
    async drain() {
      isDraining = true;
      endSweep();
      for (const session of all) sendTo(session, { type: 'drain', retryAfterMs: drainRetryMs });
      await Promise.all([...all].map((session) => session.tail));
      const closing = [...all].map(
        (session) => new Promise<void>((resolve) => session.socket.once('close', () => resolve())),
      );
      for (const session of all) session.socket.close(closeCode.goingAway, 'going away');
      const cutOff = clock.after(drainTimeoutMs, () => {
        for (const session of all) session.socket.terminate();
      });
      await Promise.all(closing);
      cutOff();
    },
  };
}
