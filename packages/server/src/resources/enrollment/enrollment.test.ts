import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ManualClock } from '../../testing/manual-clock.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { anEnrollment, anIdentity } from '../../testing/test-agent.ts';

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = new ManualClock();
  server = await startTestServer({ clock });
  await server.call('POST', '/sites', { id: 'site-a' });
  await server.call('POST', '/sites', { id: 'site-careful', requireApproval: true });
});
afterAll(() => server.stop());

async function aToken(change: Record<string, unknown> = {}) {
  const { body } = await server.call('POST', '/enrollment-tokens', { siteId: 'site-a', ...change });
  return body;
}

const enroll = (token: string | null, body: unknown) => server.call('POST', '/enroll', body, { token });
const usesLeft = async (id: string) =>
  (await server.call('GET', '/enrollment-tokens')).body.items.find((token: { id: string }) => token.id === id).usesLeft;

describe('201', () => {
  test('a host enrols at the token’s site, with its labels, and learns the signing key', async () => {
    const token = await aToken();
    const { status, body } = await enroll(token.token, anEnrollment(anIdentity('host-a'), { labels: { gpu: 'a100' } }));
    expect(status).toBe(201);
    expect(body).toMatchObject({ siteId: 'site-a', status: 'accepted', agentPath: '/agent/v1' });
    expect(body.signingKeys).toEqual([{ keyId: server.deps.signer.keyId, publicKey: server.deps.signer.publicKey }]);
    const host = await server.call('GET', `/hosts/${body.hostId}`);
    expect(host.body).toMatchObject({ name: 'host-a', status: 'accepted', labels: { gpu: 'a100' }, online: false });
    expect(await usesLeft(token.id)).toBe(0);
  });

  test('the same key again is the same host, and costs no use', async () => {
    const token = await aToken();
    const identity = anIdentity('host-again');
    const first = await enroll(token.token, anEnrollment(identity));
    const again = await enroll(token.token, anEnrollment(identity, { name: 'renamed' }));
    expect([again.status, again.body.hostId]).toEqual([201, first.body.hostId]);
    expect((await server.call('GET', `/hosts/${first.body.hostId}`)).body.name).toBe('renamed');
  });

  test('a host waits where its site wants approval', async () => {
    const token = await aToken({ siteId: 'site-careful' });
    const { body } = await enroll(token.token, anEnrollment(anIdentity()));
    expect(body.status).toBe('pending');
  });

  test('a decommissioned host comes back with a token, and keeps its id', async () => {
    const token = await aToken({ uses: 2 });
    const identity = anIdentity();
    const first = await enroll(token.token, anEnrollment(identity));
    await server.call('POST', `/hosts/${first.body.hostId}/decommission`, { reason: 'moved' });
    const again = await enroll(token.token, anEnrollment(identity));
    expect(again.body).toMatchObject({ hostId: first.body.hostId, status: 'accepted' });
    expect(await usesLeft(token.id)).toBe(0);
  });

  test('enrolment is in the audit log with the token that allowed it', async () => {
    const token = await aToken();
    const { body } = await enroll(token.token, anEnrollment(anIdentity()));
    const audit = await server.call('GET', `/audit?target=host:${body.hostId}`);
    expect(audit.body.items).toMatchObject([{ action: 'host.enroll', actor: `enrollment_token:${token.id}` }]);
    expect(JSON.stringify(audit.body)).not.toContain(token.token);
  });
});

describe('400', () => {
  test.each([
    ['publicKey', { publicKey: 'short' }],
    ['name', { name: '-bad-' }],
    ['extra', { extra: 1 }],
    ['signature', { signature: '' }],
  ])('a bad %s is named', async (path, change) => {
    const token = await aToken();
    const { status, body } = await enroll(token.token, { ...anEnrollment(anIdentity()), ...change });
    expect([status, body.errors[0].path]).toEqual([400, path]);
  });

  test('a label that is none costs no use', async () => {
    const token = await aToken();
    const { status, body } = await enroll(token.token, anEnrollment(anIdentity(), { labels: { 'bad key': 'x' } }));
    expect([status, body.errors[0].path]).toEqual([400, 'labels.bad key']);
    expect(await usesLeft(token.id)).toBe(1);
  });
});

describe('401', () => {
  test('without a token, with a wrong one, with an API token', async () => {
    for (const token of [null, `gfe_${'x'.repeat(43)}`, server.tokens.admin]) {
      const { status, body } = await enroll(token, anEnrollment(anIdentity()));
      expect([status, body.code]).toEqual([401, 'bad_enrollment_token']);
    }
  });

  test('a token that is used up', async () => {
    const token = await aToken();
    await enroll(token.token, anEnrollment(anIdentity()));
    expect((await enroll(token.token, anEnrollment(anIdentity()))).status).toBe(401);
  });

  test('two hosts that race for one use: one is in', async () => {
    const token = await aToken();
    const answers = await Promise.all([1, 2, 3].map(() => enroll(token.token, anEnrollment(anIdentity()))));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 401, 401]);
  });

  test('a revoked and an expired token', async () => {
    const revoked = await aToken();
    await server.call('DELETE', `/enrollment-tokens/${revoked.id}`);
    expect((await enroll(revoked.token, anEnrollment(anIdentity()))).status).toBe(401);
    const expired = await aToken({ expiresInMs: 60_000 });
    clock.advance(60_000);
    expect((await enroll(expired.token, anEnrollment(anIdentity()))).status).toBe(401);
  });
});

describe('403', () => {
  test('a signature by another key costs no use', async () => {
    const token = await aToken();
    const body = { ...anEnrollment(anIdentity()), signature: anEnrollment(anIdentity()).signature };
    const answer = await enroll(token.token, body);
    expect([answer.status, answer.body.code]).toEqual([403, 'bad_proof_of_possession']);
    expect(await usesLeft(token.id)).toBe(1);
  });

  test('a rejected host does not come back by itself', async () => {
    const token = await aToken({ siteId: 'site-careful', uses: 2 });
    const identity = anIdentity();
    const { body } = await enroll(token.token, anEnrollment(identity));
    await server.call('POST', `/hosts/${body.hostId}/reject`, { reason: 'not ours' });
    const again = await enroll(token.token, anEnrollment(identity));
    expect([again.status, again.body.code]).toEqual([403, 'host_revoked']);
  });
});
