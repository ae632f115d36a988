import type { Rejection, ServerMessage, Welcome } from '@gpufleet/shared/protocol';
import { expect, test } from 'vitest';
import { type Link, type LinkContext, type LinkEvent, linkSettings, stepLink, wakeAtMs } from './machine.ts';

function at(nowMs: number, context: Partial<LinkContext> = {}): LinkContext {
  return { nowMs, random: 0.5, ticket: null, settings: linkSettings, ...context };
}

const challenge: ServerMessage = { type: 'challenge', nonce: 'n1', serverNowMs: 5_000 };

function welcome(fields: Partial<Welcome> = {}): Welcome {
  return {
    type: 'welcome',
    protocolVersion: 1,
    serverNowMs: 5_000,
    serverEpoch: 3,
    sessionEpoch: 7,
    heartbeatEveryMs: 10_000,
    ticket: 't2',
    staleSections: [],
    signingKeyIds: ['k1'],
    ...fields,
  };
}

function rejection(fields: Partial<Rejection> = {}): Rejection {
  return { type: 'rejection', code: 'revoked', detail: 'no', retryAfterMs: null, ...fields };
}

const dialing: Link = { at: 'dialing', failures: 2, giveUpAtMs: 15_000 };
const challenged: Link = { at: 'challenged', failures: 2, giveUpAtMs: 20_000, hello: 'by_key' };
const online: Link = {
  at: 'online',
  failures: 2,
  sessionEpoch: 7,
  heartbeatEveryMs: 10_000,
  heartbeatAtMs: 10_000,
  seq: 1,
  heardAtMs: 0,
};

test('dials with the ticket that it holds', () => {
  const { link, effects } = stepLink({ at: 'offline' }, { type: 'start' }, at(0, { ticket: 't1' }));
  expect(link).toEqual({ at: 'dialing', failures: 0, giveUpAtMs: linkSettings.dialTimeoutMs });
  expect(effects).toEqual([{ do: 'dial', ticket: 't1' }]);
});

test('proves its key to the challenge that comes when the connection is open', () => {
  const opened = stepLink(dialing, { type: 'opened' }, at(1));
  expect(opened).toEqual({ link: { at: 'challenged', failures: 2, giveUpAtMs: 20_001, hello: 'none' }, effects: [] });
  const { link, effects } = stepLink(opened.link, { type: 'message', message: challenge }, at(2));
  expect(link).toMatchObject({ at: 'challenged', hello: 'by_key' });
  expect(effects).toEqual([
    { do: 'learn_time', serverNowMs: 5_000 },
    { do: 'keep_ticket', ticket: null },
    { do: 'send_hello', by: { nonce: 'n1' } },
  ]);
});

test('with a ticket says hello unasked, and proves its key when it is challenged all the same', () => {
  const opened = stepLink(dialing, { type: 'opened' }, at(1, { ticket: 't1' }));
  expect(opened.link).toMatchObject({ at: 'challenged', hello: 'by_ticket' });
  expect(opened.effects).toEqual([{ do: 'send_hello', by: { ticket: 't1' } }]);
  const welcomed = stepLink(opened.link, { type: 'message', message: welcome() }, at(2));
  expect(welcomed.link.at).toBe('online');
  const again = stepLink(opened.link, { type: 'message', message: challenge }, at(2));
  expect(again.link).toMatchObject({ at: 'challenged', hello: 'by_key' });
  expect(again.effects).toContainEqual({ do: 'keep_ticket', ticket: null });
  expect(again.effects).toContainEqual({ do: 'send_hello', by: { nonce: 'n1' } });
});

test('signs one challenge a connection', () => {
  expect(stepLink(challenged, { type: 'message', message: challenge }, at(1)).effects).toEqual([]);
});

test('takes no welcome before it has proven anything', () => {
  const link: Link = { ...challenged, hello: 'none' };
  expect(stepLink(link, { type: 'message', message: welcome() }, at(1))).toEqual({ link, effects: [] });
});

test('is online from the welcome, with the period that the server names', () => {
  const { link, effects } = stepLink(challenged, { type: 'message', message: welcome() }, at(100));
  expect(link).toMatchObject({ at: 'online', sessionEpoch: 7, heartbeatAtMs: 10_100, failures: 2 });
  expect(effects.map((effect) => effect.do)).toEqual(['learn_time', 'keep_ticket', 'begin_session']);
});

test('sends heartbeats at fixed times, and pings a server that has been quiet for a period', () => {
  const first = stepLink({ ...online, heardAtMs: 9_000 }, { type: 'tick' }, at(10_020));
  expect(first.effects).toEqual([{ do: 'send_heartbeat', seq: 1 }]);
  expect(first.link).toMatchObject({ heartbeatAtMs: 20_000, seq: 2, failures: 0 });
  const second = stepLink(first.link, { type: 'tick' }, at(20_000));
  expect(second.effects).toEqual([{ do: 'send_heartbeat', seq: 2 }, { do: 'ping' }]);
});

test('skips the beats of a time that it slept through instead of sending them all', () => {
  const { link } = stepLink({ ...online, heardAtMs: 40_000 }, { type: 'tick' }, at(45_000));
  expect(wakeAtMs(link)).toBe(55_000);
});

test('leaves a server that is silent for three periods', () => {
  const { link, effects } = stepLink(online, { type: 'tick' }, at(30_001));
  expect(link).toMatchObject({ at: 'waiting', failures: 1 });
  expect(effects.map((effect) => effect.do)).toEqual(['end_session', 'close']);
});

test('hands on what a session brings and remembers that it heard', () => {
  const message: ServerMessage = { type: 'want', sections: ['os'] };
  const { link, effects } = stepLink(online, { type: 'message', message }, at(500));
  expect(effects).toEqual([{ do: 'deliver', message }]);
  expect(link).toMatchObject({ heardAtMs: 500 });
});

test('waits longer after each failure, up to the cap, by a random part of it', () => {
  const waits = [0, 1, 5, 40].map((failures) => {
    const { link } = stepLink({ ...dialing, failures }, { type: 'closed', retryAfterMs: null }, at(0, { random: 0.5 }));
    return wakeAtMs(link);
  });
  expect(waits).toEqual([500, 1_000, 16_000, 30_000]);
  expect(wakeAtMs(stepLink(dialing, { type: 'closed', retryAfterMs: null }, at(0, { random: 0 })).link)).toBe(0);
});

test('counts on when sessions break before their first heartbeat, and starts afresh once one held', () => {
  expect(stepLink(online, { type: 'closed', retryAfterMs: null }, at(1)).link).toMatchObject({ failures: 3 });
  const held = stepLink({ ...online, heardAtMs: 9_999 }, { type: 'tick' }, at(10_000)).link;
  expect(stepLink(held, { type: 'closed', retryAfterMs: null }, at(10_001)).link).toMatchObject({ failures: 1 });
});

test('never comes back before the time that the server asked for', () => {
  for (const random of [0, 0.5, 0.999]) {
    const closed = stepLink(dialing, { type: 'closed', retryAfterMs: 20_000 }, at(0, { random })).link;
    const drained = stepLink(
      online,
      { type: 'message', message: { type: 'drain', retryAfterMs: 20_000 } },
      at(0, { random }),
    );
    expect(wakeAtMs(closed)).toBeGreaterThanOrEqual(20_000);
    expect(wakeAtMs(drained.link)).toBeGreaterThanOrEqual(20_000);
    expect(wakeAtMs(drained.link)).toBeLessThanOrEqual(40_000);
    expect(drained.effects.map((effect) => effect.do)).toEqual(['end_session', 'close']);
  }
});

test('keeps everything when it is refused, and looks again later', () => {
  const { link, effects } = stepLink(challenged, { type: 'message', message: rejection() }, at(0));
  expect(link).toMatchObject({ at: 'refused', code: 'revoked' });
  expect(wakeAtMs(link)).toBe(linkSettings.refusedWaitMs);
  expect(effects).toEqual([
    { do: 'close', code: 1000, reason: 'refused' },
    { do: 'keep_ticket', ticket: null },
  ]);
  expect(stepLink(link, { type: 'tick' }, at(linkSettings.refusedWaitMs)).effects).toEqual([
    { do: 'dial', ticket: null },
  ]);
});

test('gives up a dial and a hello that nobody answers', () => {
  expect(stepLink(dialing, { type: 'tick' }, at(14_999)).link.at).toBe('dialing');
  expect(stepLink(dialing, { type: 'tick' }, at(15_000)).link.at).toBe('waiting');
  expect(stepLink(challenged, { type: 'tick' }, at(20_000)).effects).toEqual([
    { do: 'close', code: 1002, reason: 'no answer' },
  ]);
});

test('stops from every state, and starts again only from there', () => {
  const waiting: Link = { at: 'waiting', failures: 9, untilMs: 1 };
  for (const link of [dialing, challenged, online, waiting])
    expect(stepLink(link, { type: 'stop' }, at(0)).link).toEqual({ at: 'offline' });
  expect(stepLink(online, { type: 'start' }, at(0)).link).toBe(online);
});

test('stays in a known state whatever comes, and never dials twice at once', () => {
  const events: LinkEvent[] = [
    { type: 'start' },
    { type: 'opened' },
    { type: 'heard' },
    { type: 'tick' },
    { type: 'closed', retryAfterMs: null },
    { type: 'message', message: challenge },
    { type: 'message', message: welcome() },
    { type: 'message', message: rejection({ retryAfterMs: 100 }) },
    { type: 'message', message: { type: 'drain', retryAfterMs: 0 } },
    { type: 'message', message: { type: 'want', sections: [] } },
  ];
  let link: Link = { at: 'offline' };
  let open = false;
  // A fixed walk that meets every event in every order of pairs many times.
  for (let turn = 0; turn < 5_000; turn++) {
    const event = events[(turn * 7 + Math.floor(turn / 11) * 3) % events.length];
    if (event === undefined) throw new Error('the list of events is not empty');
    if ((event.type === 'opened' || event.type === 'closed' || event.type === 'message') && !open) continue;
    if (event.type === 'closed') open = false;
    const stepped = stepLink(link, event, at(turn * 997, { random: (turn % 10) / 10 }));
    for (const effect of stepped.effects) {
      if (effect.do === 'dial') {
        expect(open).toBe(false);
        open = true;
      }
      if (effect.do === 'close') open = false;
    }
    link = stepped.link;
    expect(open).toBe(link.at === 'dialing' || link.at === 'challenged' || link.at === 'online');
  }
});
