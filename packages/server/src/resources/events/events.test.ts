import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { latestEventId } from './list-events.ts';
import { recordEvent } from './record-event.ts';

let server: TestServer;
let clock: ManualClock;
const aborts: AbortController[] = [];
beforeAll(async () => {
  clock = new ManualClock();
  server = await startTestServer({ clock });
});
afterAll(async () => {
  for (const abort of aborts) abort.abort();
  await server.stop();
});

async function listen(query = '', headers: Record<string, string> = {}) {
  const abort = new AbortController();
  aborts.push(abort);
  const response = await fetch(`${server.url}/api/v1/events?${query}`, {
    headers: { authorization: `Bearer ${server.tokens.viewer}`, ...headers },
    signal: abort.signal,
  });
  let text = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error;
  });
  return {
    response,
    reading,
    text: () => text,
    events: () =>
      [...text.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map((match) => ({
        id: Number(match[1]),
        ...JSON.parse(match[2] ?? ''),
      })),
  };
}

let made = 0;
async function makeSites(count: number) {
  for (let i = 0; i < count; i++) {
    made += 1;
    await server.call('POST', '/sites', { id: `site-${made}` });
  }
}

test('a listener hears what is committed after it came', async () => {
  await makeSites(1);
  const listener = await listen();
  expect(listener.response.headers.get('content-type')).toBe('text/event-stream');
  await makeSites(2);
  await expect.poll(() => listener.events().map((event) => event.siteId)).toEqual(['site-2', 'site-3']);
  expect(listener.events()[0]).toMatchObject({ type: 'site.created', hostId: null, rolloutId: null });
});

test('Last-Event-ID resumes: nothing is lost and nothing comes twice', async () => {
  const first = await listen();
  await makeSites(3);
  await expect.poll(() => first.events().length).toBe(3);
  const [, second] = first.events();
  await makeSites(2);
  const resumed = await listen('', { 'last-event-id': String(second?.id) });
  await makeSites(1);
  await expect.poll(() => resumed.events().length).toBe(4);
  const idsOf = resumed.events().map((event) => event.id);
  expect(idsOf).toEqual([...new Set(idsOf)].sort((a, b) => a - b));
  expect(idsOf[0]).toBe((second?.id ?? 0) + 1);
});

test('a long replay comes whole', async () => {
  await server.db.write(async (tx) => {
    for (let i = 0; i < 1_200; i++)
      await tx.run(`INSERT INTO events (at_ms, type, data) VALUES (0, 'many.${i}', '{}')`);
  });
  const listener = await listen('lastEventId=0');
  await expect.poll(() => listener.events().filter((event) => event.type.startsWith('many.')).length).toBe(1_200);
});

test('a replay that is longer than what may be unsent comes whole, to a client that reads at its own pace', async () => {
  const last = await latestEventId(server.db.read);
  await server.db.write(async (tx) => {
    for (let i = 0; i < 3_000; i++)
      await recordEvent(tx, { atMs: 0, type: 'long.text', data: { n: i, text: Array(7).fill('x'.repeat(2_000)) } });
  });
  const listener = await listen(`lastEventId=${last}`);
  await expect.poll(() => listener.events().length, { timeout: 8_000 }).toBe(3_000);
}, 15_000);

test('filters by site and by type', async () => {
  const bySite = await listen(`site=site-${made + 2}`);
  const byType = await listen('type=host');
  await makeSites(3);
  await expect.poll(() => bySite.events().map((event) => event.siteId)).toEqual([`site-${made - 1}`]);
  expect(byType.events()).toEqual([]);
});

test('a listener whose last event is long deleted is told to start over', async () => {
  await server.db.write(async (tx) => tx.run('DELETE FROM events WHERE id < 10'));
  const listener = await listen('', { 'last-event-id': '2' });
  await expect.poll(() => listener.text()).toContain('event: reset');
});

test('a listener whose last event is still to come, as after an older backup, is told to start over and hears on', async () => {
  const listener = await listen('', { 'last-event-id': '9000000' });
  await expect.poll(() => listener.text()).toContain('event: reset');
  await makeSites(1);
  await expect.poll(() => listener.events().map((event) => event.siteId)).toEqual([`site-${made}`]);
});

test('a revoked token hears nothing more', async () => {
  const { body: token } = await server.call('POST', '/tokens', { name: 'listener', role: 'viewer' });
  const listener = await listen('', { authorization: `Bearer ${token.token}` });
  await server.call('DELETE', `/tokens/${token.id}`);
  clock.advance(15_000);
  await listener.reading;
  expect(listener.text()).not.toContain('still here');
});

test('silence is broken by a comment', async () => {
  const listener = await listen();
  clock.advance(15_000);
  await expect.poll(() => listener.text()).toContain(': still here');
});

test('400: a Last-Event-ID that is none', async () => {
  const { status, body } = await server.call('GET', '/events', undefined, { headers: { 'last-event-id': 'abc' } });
  expect([status, body.code]).toEqual([400, 'bad_request']);
});

test('401: without a token', async () => {
  expect((await server.call('GET', '/events', undefined, { token: null })).status).toBe(401);
});

test('a stopping server ends the streams', async () => {
  const own = await startTestServer();
  const response = await fetch(`${own.url}/api/v1/events`, {
    headers: { authorization: `Bearer ${own.tokens.viewer}` },
  });
  await own.stop();
  expect(await response.text()).toBe('retry: 2000\n\n');
});
