import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { ensureFirstAdminToken } from './index.ts';

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = new ManualClock();
  server = await startTestServer({ clock });
  await server.call('POST', '/sites', { id: 'site-a' });
});
afterAll(() => server.stop());

describe('API tokens', () => {
  test('201: the secret is shown once and works at once', async () => {
    const { status, body } = await server.call('POST', '/tokens', { name: 'ci', role: 'operator' });
    expect(status).toBe(201);
    expect(body.token).toMatch(/^gft_/);
    expect((await server.call('GET', '/hosts', undefined, { token: body.token })).status).toBe(200);
    const list = await server.call('GET', '/tokens');
    expect(JSON.stringify(list.body)).not.toContain(body.token);
    const audit = await server.call('GET', '/audit');
    expect(JSON.stringify(audit.body)).not.toContain(body.token);
  });

  test('204: a revoked token is refused at its next call', async () => {
    const { body } = await server.call('POST', '/tokens', { name: 'gone', role: 'viewer' });
    expect((await server.call('DELETE', `/tokens/${body.id}`)).status).toBe(204);
    expect((await server.call('GET', '/hosts', undefined, { token: body.token })).status).toBe(401);
    expect((await server.call('GET', '/tokens')).body.items.map((token: { id: string }) => token.id)).not.toContain(
      body.id,
    );
  });

  test('401: an expired token is refused', async () => {
    const { body } = await server.call('POST', '/tokens', { name: 'short', role: 'viewer', expiresInMs: 60_000 });
    clock.advance(59_999);
    expect((await server.call('GET', '/hosts', undefined, { token: body.token })).status).toBe(200);
    clock.advance(1);
    expect((await server.call('GET', '/hosts', undefined, { token: body.token })).status).toBe(401);
  });

  test('403: only an admin sees or makes tokens', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const body = method === 'POST' ? { name: 'x', role: 'admin' } : undefined;
      expect((await server.call(method, '/tokens', body, { token: server.tokens.operator })).status).toBe(403);
    }
  });

  test('404: a token that is not there', async () => {
    const { status, body } = await server.call('DELETE', '/tokens/token_none');
    expect([status, body.code]).toEqual([404, 'token_not_found']);
  });

  test('409: the last admin token stays', async () => {
    const { status, body } = await server.call('DELETE', '/tokens/token_test_admin');
    expect([status, body.code]).toEqual([409, 'last_admin_token']);
  });

  test('409: a repeated creating call does not show the secret again and keeps none', async () => {
    const options = { headers: { 'idempotency-key': 'token-1' } };
    const first = await server.call('POST', '/tokens', { name: 'once', role: 'viewer' }, options);
    const again = await server.call('POST', '/tokens', { name: 'once', role: 'viewer' }, options);
    expect([first.status, again.status, again.body.code]).toEqual([201, 409, 'secret_already_shown']);
    const kept = await server.db.read.all<{ body: string }>('SELECT body FROM idempotency_keys');
    expect(JSON.stringify(kept)).not.toContain(first.body.token);
    expect(
      (await server.call('GET', '/tokens')).body.items.filter((token: { name: string }) => token.name === 'once'),
    ).toHaveLength(1);
  });

  test('an Idempotency-Key is its token’s own, also beside another token of the same name', async () => {
    const twin = async () => (await server.call('POST', '/tokens', { name: 'twin', role: 'operator' })).body.token;
    const tokens = [await twin(), await twin()];
    const headers = { 'idempotency-key': 'mine' };
    const make = (id: string, token: string) => server.call('POST', '/sites', { id }, { headers, token });
    const answers = [await make('site-1', tokens[0]), await make('site-2', tokens[1]), await make('site-2', tokens[1])];
    expect(answers.map(({ status, body }) => [status, body.id])).toEqual([
      [201, 'site-1'],
      [201, 'site-2'],
      [201, 'site-2'],
    ]);
  });

  test.each(['\u001b[31mred', 'two\nlines', 'nul\u0000', 'right\u202eto left', '\ud800'])(
    '400: the name %j would not be seen as it is',
    async (name) => {
      const { status, body } = await server.call('POST', '/tokens', { name, role: 'viewer' });
      expect([status, body.errors[0].path]).toEqual([400, 'name']);
    },
  );

  test('when the last admin token has expired, the next start makes one', async () => {
    const own = await startTestServer({ clock });
    const made: string[] = [];
    const ensure = () => ensureFirstAdminToken(own.deps, (secret) => made.push(secret));
    expect(await ensure()).toBe(false);
    const short = await own.call('POST', '/tokens', { name: 'short', role: 'admin', expiresInMs: 60_000 });
    await own.call('DELETE', '/tokens/token_test_admin', undefined, { token: short.body.token });
    clock.advance(60_000);
    expect(await ensure()).toBe(true);
    expect((await own.call('GET', '/tokens', undefined, { token: made[0] ?? null })).status).toBe(200);
    await own.stop();
  });

  test('the last use is written down in batches', async () => {
    const { body } = await server.call('POST', '/tokens', { name: 'used', role: 'viewer' });
    await server.call('GET', '/hosts', undefined, { token: body.token });
    const lastUsed = async () =>
      (await server.call('GET', '/tokens')).body.items.find((token: { id: string }) => token.id === body.id)
        .lastUsedAtMs;
    expect(await lastUsed()).toBeNull();
    const usedAtMs = clock.nowMs();
    clock.advance(30_000);
    await expect.poll(lastUsed).toBe(usedAtMs);
  });
});

describe('enrolment tokens', () => {
  test('201: an operator makes one for a site', async () => {
    const { status, body } = await server.call(
      'POST',
      '/enrollment-tokens',
      { siteId: 'site-a', uses: 3 },
      { token: server.tokens.operator },
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ siteId: 'site-a', uses: 3, usesLeft: 3, revoked: false });
    expect(body.token).toMatch(/^gfe_/);
    const list = await server.call('GET', '/enrollment-tokens');
    expect(list.body.items[0]).not.toHaveProperty('token');
  });

  test('204: revoking twice is fine', async () => {
    const { body } = await server.call('POST', '/enrollment-tokens', { siteId: 'site-a' });
    for (let i = 0; i < 2; i++) expect((await server.call('DELETE', `/enrollment-tokens/${body.id}`)).status).toBe(204);
  });

  test('400: no uses at all', async () => {
    const { status, body } = await server.call('POST', '/enrollment-tokens', { siteId: 'site-a', uses: 0 });
    expect([status, body.errors[0].path]).toEqual([400, 'uses']);
  });

  test('404: a site or token that is not there', async () => {
    expect((await server.call('POST', '/enrollment-tokens', { siteId: 'nowhere' })).body.code).toBe('site_not_found');
    expect((await server.call('DELETE', '/enrollment-tokens/x')).body.code).toBe('enrollment_token_not_found');
  });
});
