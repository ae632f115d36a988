import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const id of ['site-a', 'site-b', 'site-c']) await server.call('POST', '/sites', { id });
  await server.call('DELETE', '/sites/site-a', undefined, { token: server.tokens.operator });
});
afterAll(() => server.stop());

test('200: newest first, page by page', async () => {
  const first = await server.call('GET', '/audit?limit=2');
  const second = await server.call('GET', `/audit?limit=2&cursor=${first.body.nextCursor}`);
  const targets = [...first.body.items, ...second.body.items].map((entry) => entry.target);
  expect(targets).toEqual(['site:site-a', 'site:site-c', 'site:site-b', 'site:site-a']);
  expect(second.body.nextCursor).toBeNull();
});

test('200: filters by actor', async () => {
  const { body } = await server.call('GET', '/audit?actor=token:test-operator');
  expect(body.items).toMatchObject([{ action: 'site.delete', before: { id: 'site-a' }, after: null }]);
});

test('400: a cursor that is none', async () => {
  expect((await server.call('GET', '/audit?cursor=zzz')).body.code).toBe('bad_cursor');
});

test('403: only an admin reads it', async () => {
  expect((await server.call('GET', '/audit', undefined, { token: server.tokens.operator })).status).toBe(403);
});

test('a change that was refused leaves no entry', async () => {
  await server.call('POST', '/sites', { id: 'site-b' });
  expect((await server.call('GET', '/audit?target=site:site-b')).body.items).toHaveLength(1);
});
