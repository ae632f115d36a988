import { encodeMessage, type Hello, type Rejection, type ServerMessage } from '@gpufleet/shared/protocol';
import type { WebSocket } from 'ws';
import type { HostEntry } from './host-directory.ts';

/** Unsent bytes at which a peer counts as too slow. */
const maxUnsentBytes = 4 * 1024 * 1024;
/** Messages of one agent that wait their turn. */
const maxWaiting = 256;
const messagesPerSecond = 50;
const messageBurst = 400;
/** An agent that was refused for what it sent comes back after this long. */
export const retryLaterMs = 30_000;

/** One connection of an agent, from the upgrade to its end. */
export interface Session {
  readonly socket: WebSocket;
  readonly nonce: string;
  /** What the upgrade's ticket said: the host that it proves, that it is void, or nothing. */
  readonly resumes: Resumption;
  readonly openedMs: number;
  state: SessionState;
  lastHeardMs: number;
  /** Tail of the messages that wait; each begins when the one before has settled. */
  tail: Promise<void>;
  waiting: number;
  allowance: { messages: number; atMs: number };
}

export type Resumption =
  | { by: 'ticket'; host: HostEntry; enrolledAtMs: number; ticket: string }
  | { by: 'void_ticket' }
  | { by: 'nothing' };

/** A digest of the agent's report that was not the store's: told once it may be on its way, told twice it got lost. */
export type Drift = { at: 'none' } | { at: 'seen'; digest: string } | { at: 'asked' };

export type OpenState = Extract<SessionState, { at: 'open' }>;
export type SessionState =
  | { at: 'handshaking' }
  | { at: 'open'; host: HostEntry; hello: Hello; epoch: number; hasReconciled: boolean; drift: Drift }
  | { at: 'ended' };

export function newSession(socket: WebSocket, nonce: string, resumes: Resumption, nowMs: number): Session {
  return {
    socket,
    nonce,
    resumes,
    openedMs: nowMs,
    state: { at: 'handshaking' },
    lastHeardMs: nowMs,
    tail: Promise.resolve(),
    waiting: 0,
    allowance: { messages: messageBurst, atMs: nowMs },
  };
}

/** False when the peer does not take what it is sent: its connection is cut, its memory ours no longer. */
export function sendTo(session: Session, message: ServerMessage): boolean {
  const { socket } = session;
  if (session.state.at === 'ended' || socket.readyState !== socket.OPEN) return false;
  if (socket.bufferedAmount > maxUnsentBytes) {
    socket.terminate();
    return false;
  }
  socket.send(encodeMessage(message));
  return true;
}

/** Takes one message from the session's allowance; false when it sends faster than any agent of ours. */
export function takeAllowance(session: Session, nowMs: number): boolean {
  const { allowance } = session;
  const refilled = Math.min(messageBurst, allowance.messages + ((nowMs - allowance.atMs) / 1_000) * messagesPerSecond);
  allowance.messages = refilled - 1;
  allowance.atMs = nowMs;
  return refilled >= 1;
}

/** Runs `work` after all that came before in this session; false when too much waits. */
export function enqueue(session: Session, work: () => Promise<void>, failed: (error: unknown) => void): boolean {
  if (session.waiting >= maxWaiting) return false;
  session.waiting += 1;
  session.tail = session.tail
    .then(() => (session.state.at === 'ended' ? undefined : work()))
    .catch(failed)
    .finally(() => {
      session.waiting -= 1;
    });
  return true;
}

/** Why a session ends whose peer does not speak as our agents do. */
export function badMessage(detail: string): Omit<Rejection, 'type'> {
  return { code: 'bad_message', detail, retryAfterMs: retryLaterMs };
}
