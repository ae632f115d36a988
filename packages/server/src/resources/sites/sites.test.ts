import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { anIdentity, enrollTestHost } from '../../testing/test-agent.ts';

let server: TestServer;
let count = 0;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function aSite(change: Record<string, unknown> = {}) {
  count += 1;
  const { status, body } = await server.call('POST', '/sites', { id: `site-${count}`, ...change });
  expect(status).toBe(201);
  return body;
}

describe('200', () => {
  test('lists sites by id, page by page', async () => {
    for (let i = 0; i < 3; i++) await aSite();
    const first = await server.call('GET', '/sites?limit=2');
    expect(first.body.items).toHaveLength(2);
    const second = await server.call('GET', `/sites?limit=500&cursor=${first.body.nextCursor}`);
    const ids = [...first.body.items, ...second.body.items].map((site) => site.id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(ids).toHaveLength(count);
    expect(second.body.nextCursor).toBeNull();
  });

  test('shows a site with its version as ETag', async () => {
    const site = await aSite({ timezone: 'Asia/Tokyo' });
    const { body, headers } = await server.call('GET', `/sites/${site.id}`);
    expect(body).toMatchObject({ id: site.id, timezone: 'Asia/Tokyo', hosts: 0, online: 0, version: 1 });
    expect(headers.get('etag')).toBe('"1"');
  });

  test('changes only what is named, when the version is the stored one', async () => {
    const site = await aSite({ timezone: 'Asia/Tokyo', displayName: 'Tokyo' });
    const { status, body } = await server.call(
      'PATCH',
      `/sites/${site.id}`,
      { requireApproval: true, window: { from: '01:00', to: '05:00' } },
      { headers: { 'if-match': '"1"' } },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ displayName: 'Tokyo', timezone: 'Asia/Tokyo', requireApproval: true, version: 2 });
    expect(body.window).toMatchObject({ zone: 'site', from: '01:00' });
  });
});

describe('201', () => {
  test('makes a site with its defaults', async () => {
    expect(await aSite()).toMatchObject({
      timezone: 'Etc/UTC',
      displayName: null,
      window: null,
      freezes: [],
      version: 1,
    });
  });

  test('the same Idempotency-Key and body make it once', async () => {
    const options = { headers: { 'idempotency-key': 'once-1' } };
    const first = await server.call('POST', '/sites', { id: 'site-once' }, options);
    const again = await server.call('POST', '/sites', { id: 'site-once' }, options);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    count += 1;
  });
});

describe('204', () => {
  test('deletes a site without hosts', async () => {
    const site = await aSite();
    expect((await server.call('DELETE', `/sites/${site.id}`)).status).toBe(204);
    expect((await server.call('GET', `/sites/${site.id}`)).status).toBe(404);
    count -= 1;
  });
});

describe('400', () => {
  test('an unknown field is named', async () => {
    const { status, body } = await server.call('POST', '/sites', { id: 'site-x', colour: 'red' });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 'bad_request',
      errors: [{ path: 'colour', message: 'there is no such field' }],
    });
  });

  test('a nested field is named by its path', async () => {
    const { body } = await server.call('POST', '/sites', { id: 'site-x', window: { from: '25:00', to: '05:00' } });
    expect(body.errors).toEqual([{ path: 'window.from', message: 'a time is HH:MM' }]);
  });

  test('a time zone that does not exist', async () => {
    const { body } = await server.call('POST', '/sites', { id: 'site-x', timezone: 'Mars/Base' });
    expect(body).toMatchObject({ status: 400, code: 'bad_timezone', errors: [{ path: 'timezone' }] });
  });

  test('a freeze that ends before it begins', async () => {
    const freeze = { from: '2026-12-02T00:00:00Z', to: '2026-12-01T00:00:00Z', reason: 'x' };
    const { body } = await server.call('POST', '/sites', { id: 'site-x', freezes: [freeze] });
    expect(body).toMatchObject({ code: 'bad_request', errors: [{ path: 'freezes.0.to' }] });
  });

  test.each(['x', Buffer.from('{"a":1}').toString('base64url')])('the cursor %s', async (cursor) => {
    expect((await server.call('GET', `/sites?cursor=${cursor}`)).body.code).toBe('bad_cursor');
  });

  test.each(['limit=0', 'limit=501', 'limit=x', 'sort=id'])('the query %s', async (query) => {
    const { status, body } = await server.call('GET', `/sites?${query}`);
    expect([status, body.errors[0].path]).toEqual([400, `query.${query.split('=')[0]}`]);
  });

  test('an If-Match that is no ETag of ours', async () => {
    const site = await aSite();
    const options = { headers: { 'if-match': 'yesterday' } };
    expect((await server.call('PATCH', `/sites/${site.id}`, {}, options)).body.code).toBe('bad_if_match');
  });
});

describe('401 and 403', () => {
  test('without a token, and with a viewer’s', async () => {
    const none = await server.call('GET', '/sites', undefined, { token: null });
    expect([none.status, none.body.code]).toEqual([401, 'unauthenticated']);
    const viewer = await server.call('POST', '/sites', { id: 'site-x' }, { token: server.tokens.viewer });
    expect([viewer.status, viewer.body.code]).toEqual([403, 'forbidden']);
    expect((await server.call('GET', '/sites', undefined, { token: server.tokens.viewer })).status).toBe(200);
  });
});

describe('404', () => {
  test.each([
    ['GET', undefined],
    ['PATCH', {}],
    ['DELETE', undefined],
  ])('%s of a site that is not there', async (method, body) => {
    const answer = await server.call(method, '/sites/nowhere', body);
    expect([answer.status, answer.body.code]).toEqual([404, 'site_not_found']);
  });
});

describe('409', () => {
  test('a site with that id exists', async () => {
    const site = await aSite();
    expect((await server.call('POST', '/sites', { id: site.id })).body.code).toBe('site_exists');
  });

  test('a site with hosts is not deleted', async () => {
    await enrollTestHost(server, anIdentity(), { siteId: 'site-with-host' });
    count += 1;
    const { status, body } = await server.call('DELETE', '/sites/site-with-host');
    expect([status, body.code]).toEqual([409, 'site_has_hosts']);
    expect((await server.call('GET', '/sites/site-with-host')).body.hosts).toBe(1);
  });

  test('an Idempotency-Key that was used for another body', async () => {
    const options = { headers: { 'idempotency-key': 'twice' } };
    await server.call('POST', '/sites', { id: 'site-twice' }, options);
    count += 1;
    const other = await server.call('POST', '/sites', { id: 'site-other' }, options);
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
  });
});

describe('412', () => {
  test('somebody changed it since', async () => {
    const site = await aSite();
    await server.call('PATCH', `/sites/${site.id}`, { displayName: 'a' });
    const options = { headers: { 'if-match': '"1"' } };
    const { status, body } = await server.call('PATCH', `/sites/${site.id}`, { displayName: 'b' }, options);
    expect([status, body.code]).toEqual([412, 'precondition_failed']);
    expect((await server.call('GET', `/sites/${site.id}`)).body.displayName).toBe('a');
  });
});

test('every change has its actor in the audit log', async () => {
  const site = await aSite();
  await server.call('PATCH', `/sites/${site.id}`, { displayName: 'a' }, { token: server.tokens.operator });
  await server.call('DELETE', `/sites/${site.id}`);
  count -= 1;
  const { body } = await server.call('GET', `/audit?target=site:${site.id}`);
  expect(body.items.map((entry: { actor: string; action: string }) => [entry.action, entry.actor])).toEqual([
    ['site.delete', 'token:test-admin'],
    ['site.update', 'token:test-operator'],
    ['site.create', 'token:test-admin'],
  ]);
  expect(body.items[1].after).toEqual({ displayName: 'a' });
  expect(body.items[1].requestId).toMatch(/^req_/);
});
