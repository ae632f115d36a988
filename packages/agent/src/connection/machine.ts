import { assertNever } from '@gpufleet/shared/core';
import type { Rejection, ServerMessage, Welcome } from '@gpufleet/shared/protocol';
import { type BackoffLimits, deriveAskedWaitMs, deriveBackoffMs } from './backoff.ts';

/** Where the agent stands with its server. Times are monotonic. `failures` counts attempts since a session held. */
export type Link =
  | { at: 'offline' }
  | { at: 'waiting'; failures: number; untilMs: number }
  | { at: 'dialing'; failures: number; giveUpAtMs: number }
  /** The connection is open; `hello` is what the hello on the way proves possession by, once there is one. */
  | { at: 'challenged'; failures: number; giveUpAtMs: number; hello: 'none' | 'by_ticket' | 'by_key' }
  | {
      at: 'online';
      failures: number;
      sessionEpoch: number;
      heartbeatEveryMs: number;
      heartbeatAtMs: number;
      seq: number;
      heardAtMs: number;
    }
  /** The server said that it goes away: nothing new is sent, and the dial comes when it asked. */
  | { at: 'draining'; untilMs: number }
  /** Refused: everything is kept, and a slow look later notices a lifted revocation or a restored server. */
  | { at: 'refused'; code: Rejection['code']; detail: string; untilMs: number };

export type LinkEvent =
  | { type: 'start' }
  | { type: 'stop' }
  | { type: 'opened' }
  /** The connection is gone or was never made. `retryAfterMs`: what an HTTP answer asked for. */
  | { type: 'closed'; retryAfterMs: number | null }
  | { type: 'message'; message: ServerMessage }
  /** Any frame, a pong included. */
  | { type: 'heard' }
  /** The time that the last `wake` named has come. */
  | { type: 'tick' };

export type LinkEffect =
  /** With the ticket in the upgrade the server need not check the signature that the hello carries all the same. */
  | { do: 'dial'; ticket: string | null }
  | { do: 'close'; code: number; reason: string }
  | { do: 'send_hello'; by: { ticket: string } | { nonce: string } }
  | { do: 'send_heartbeat'; seq: number }
  | { do: 'ping' }
  | { do: 'learn_time'; serverNowMs: number }
  | { do: 'keep_ticket'; ticket: string | null }
  | { do: 'begin_session'; welcome: Welcome }
  | { do: 'end_session' }
  | { do: 'deliver'; message: ServerMessage };

export interface LinkSettings extends BackoffLimits {
  dialTimeoutMs: number;
  helloTimeoutMs: number;
  /** How long a refusal without a time of its own is respected. */
  refusedWaitMs: number;
  /** Heartbeat periods without any frame from the server until it counts as gone. */
  silentPeriods: number;
}

export const linkSettings: LinkSettings = {
  minBackoffMs: 1_000,
  maxBackoffMs: 60_000,
  dialTimeoutMs: 15_000,
  helloTimeoutMs: 20_000,
  refusedWaitMs: 10 * 60_000,
  silentPeriods: 3,
};

export interface LinkContext {
  nowMs: number;
  /** In [0, 1). */
  random: number;
  /** Held from an earlier welcome. */
  ticket: string | null;
  settings: LinkSettings;
}

export interface Stepped {
  link: Link;
  effects: LinkEffect[];
}

/** The connection's only decisions: what an event means where the link stands. */
export function stepLink(link: Link, event: LinkEvent, context: LinkContext): Stepped {
  switch (event.type) {
    case 'start':
      return link.at === 'offline' ? dial(0, context) : stay(link);
    case 'stop':
      return { link: { at: 'offline' }, effects: [...leave(link), ...close(link, 1000, 'the agent stops')] };
    case 'opened':
      return opened(link, context);
    case 'closed':
      return closed(link, event.retryAfterMs, context);
    case 'heard':
      return link.at === 'online' ? stay({ ...link, heardAtMs: context.nowMs }) : stay(link);
    case 'message':
      return received(link, event.message, context);
    case 'tick':
      return ticked(link, context);
    default:
      return assertNever(event);
  }
}

/** When the link wants its next `tick`; undefined: never by itself. */
export function wakeAtMs(link: Link): number | undefined {
  switch (link.at) {
    case 'offline':
      return undefined;
    case 'waiting':
    case 'draining':
    case 'refused':
      return link.untilMs;
    case 'dialing':
    case 'challenged':
      return link.giveUpAtMs;
    case 'online':
      return link.heartbeatAtMs;
    default:
      return assertNever(link);
  }
}

/** A ticket went with the dial: a server that takes it does not challenge, and waits for the hello. */
function opened(link: Link, { nowMs, settings, ticket }: LinkContext): Stepped {
  if (link.at !== 'dialing') return stay(link);
  const giveUpAtMs = nowMs + settings.helloTimeoutMs;
  const { failures } = link;
  if (ticket === null) return stay({ at: 'challenged', failures, giveUpAtMs, hello: 'none' });
  return {
    link: { at: 'challenged', failures, giveUpAtMs, hello: 'by_ticket' },
    effects: [{ do: 'send_hello', by: { ticket } }],
  };
}

function closed(link: Link, retryAfterMs: number | null, context: LinkContext): Stepped {
  switch (link.at) {
    case 'offline':
    case 'waiting':
    case 'draining':
    case 'refused':
      return stay(link);
    case 'dialing':
    case 'challenged':
    case 'online':
      return wait(link.failures + 1, retryAfterMs, context, leave(link));
    default:
      return assertNever(link);
  }
}

function received(link: Link, message: ServerMessage, context: LinkContext): Stepped {
  if (message.type === 'rejection') return rejected(link, message, context);
  if (message.type === 'drain') {
    if (link.at !== 'challenged' && link.at !== 'online') return stay(link);
    const waitMs = deriveAskedWaitMs(message.retryAfterMs, context.random, context.settings);
    return {
      link: { at: 'draining', untilMs: context.nowMs + waitMs },
      effects: [...leave(link), { do: 'close', code: 1000, reason: 'drain' }],
    };
  }
  if (link.at === 'challenged') return authenticating(link, message, context);
  if (link.at !== 'online') return stay(link);
  // A second challenge or welcome belongs to no session of ours; the first one stands.
  if (message.type === 'challenge' || message.type === 'welcome') return stay({ ...link, heardAtMs: context.nowMs });
  const heard: Link = { ...link, heardAtMs: context.nowMs };
  return message.type === 'heartbeat_ack' ? stay(heard) : { link: heard, effects: [{ do: 'deliver', message }] };
}

function authenticating(
  link: Extract<Link, { at: 'challenged' }>,
  message: ServerMessage,
  { nowMs }: LinkContext,
): Stepped {
  if (message.type === 'challenge') {
    // One signature a connection: a server that challenges again and again is not obeyed.
    if (link.hello === 'by_key') return stay(link);
    return {
      link: { ...link, hello: 'by_key' },
      effects: [
        { do: 'learn_time', serverNowMs: message.serverNowMs },
        { do: 'keep_ticket', ticket: null },
        { do: 'send_hello', by: { nonce: message.nonce } },
      ],
    };
  }
  if (message.type !== 'welcome' || link.hello === 'none') return stay(link);
  const heartbeatEveryMs = Math.max(message.heartbeatEveryMs, minHeartbeatEveryMs);
  return {
    link: {
      at: 'online',
      failures: link.failures,
      sessionEpoch: message.sessionEpoch,
      heartbeatEveryMs,
      heartbeatAtMs: nowMs + heartbeatEveryMs,
      seq: 1,
      heardAtMs: nowMs,
    },
    effects: [
      { do: 'learn_time', serverNowMs: message.serverNowMs },
      { do: 'keep_ticket', ticket: message.ticket === '' ? null : message.ticket },
      { do: 'begin_session', welcome: message },
    ],
  };
}

function rejected(link: Link, rejection: Rejection, context: LinkContext): Stepped {
  if (link.at !== 'challenged' && link.at !== 'online') return stay(link);
  const effects: LinkEffect[] = [
    ...leave(link),
    { do: 'close', code: 1000, reason: 'refused' },
    { do: 'keep_ticket', ticket: null },
  ];
  const { random, settings } = context;
  const waitMs =
    rejection.retryAfterMs === null
      ? settings.refusedWaitMs * (0.5 + random)
      : deriveAskedWaitMs(rejection.retryAfterMs, random, settings);
  const untilMs = Math.round(context.nowMs + waitMs);
  return { link: { at: 'refused', code: rejection.code, detail: rejection.detail, untilMs }, effects };
}

function ticked(link: Link, context: LinkContext): Stepped {
  const { nowMs, settings } = context;
  const dueMs = wakeAtMs(link);
  if (dueMs === undefined || nowMs < dueMs) return stay(link);
  switch (link.at) {
    case 'offline':
      return stay(link);
    case 'waiting':
      return dial(link.failures, context);
    case 'draining':
    case 'refused':
      return dial(0, context);
    case 'dialing':
    case 'challenged':
      return wait(link.failures + 1, null, context, close(link, 1002, 'no answer'));
    case 'online': {
      if (nowMs - link.heardAtMs > settings.silentPeriods * link.heartbeatEveryMs)
        return wait(1, null, context, [...leave(link), ...close(link, 1001, 'the server is silent')]);
      const quiet = nowMs - link.heardAtMs >= link.heartbeatEveryMs;
      // A late timer skips beats instead of sending them in a burst.
      const nextMs = link.heartbeatAtMs + link.heartbeatEveryMs;
      const heartbeatAtMs = nextMs > nowMs ? nextMs : nowMs + link.heartbeatEveryMs;
      return {
        // The session held for a period: the next failure starts from the shortest wait again.
        link: { ...link, failures: 0, heartbeatAtMs, seq: link.seq + 1 },
        effects: [{ do: 'send_heartbeat', seq: link.seq }, ...(quiet ? [{ do: 'ping' } as const] : [])],
      };
    }
    default:
      return assertNever(link);
  }
}

function dial(failures: number, { nowMs, settings, ticket }: LinkContext): Stepped {
  return {
    link: { at: 'dialing', failures, giveUpAtMs: nowMs + settings.dialTimeoutMs },
    effects: [{ do: 'dial', ticket }],
  };
}

function wait(failures: number, retryAfterMs: number | null, context: LinkContext, effects: LinkEffect[]): Stepped {
  const { nowMs, random, settings } = context;
  const waitMs =
    retryAfterMs === null
      ? deriveBackoffMs(failures, random, settings)
      : deriveAskedWaitMs(retryAfterMs, random, settings);
  return { link: { at: 'waiting', failures, untilMs: nowMs + waitMs }, effects };
}

function stay(link: Link): Stepped {
  return { link, effects: [] };
}

function leave(link: Link): LinkEffect[] {
  return link.at === 'online' ? [{ do: 'end_session' }] : [];
}

function close(link: Link, code: number, reason: string): LinkEffect[] {
  return link.at === 'dialing' || link.at === 'challenged' || link.at === 'online'
    ? [{ do: 'close', code, reason }]
    : [];
}

// A server that asks for more is misconfigured; the host's processor is there for its workloads.
const minHeartbeatEveryMs = 50;
