import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EnrollRequest, enrollmentBytes } from '@gpufleet/shared/protocol';
import { afterEach, expect, test } from 'vitest';
import { createSystemClock } from '../clock.ts';
import { createSimulatedHost } from '../host/simulated/index.ts';
import { createMemoryStateDir } from '../host/state-dir/index.ts';
import { type Enrollment, enroll, parseServerUrl } from './enroll.ts';
import { findIdentity } from './identity.ts';
import { createKey, isSignedBy } from './key.ts';

const serverKey = createKey();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Seen {
  authorization: string | undefined;
  body: unknown;
}

/** Answers every POST with what `answer` says and keeps what it was sent. */
async function aServer(answer: (seen: Seen) => { status: number; body: unknown }) {
  const seen: Seen[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one = { authorization: request.headers.authorization, body: JSON.parse(Buffer.concat(chunks).toString()) };
    seen.push(one);
    const { status, body } = answer(one);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const accepted = {
  hostId: 'host_1',
  siteId: 'site_1',
  status: 'accepted',
  signingKeys: [{ keyId: 'k1', publicKey: serverKey.x }],
  agentPath: '/agent/v1',
};

function anEnrollment(serverUrl: string, fields: Partial<Enrollment> = {}): Enrollment {
  return {
    host: createSimulatedHost({ class: 'x86-docker', name: 'host-1', clock: createSystemClock() }),
    state: createMemoryStateDir(),
    serverUrl,
    token: 'token-1',
    name: 'host-1',
    labels: { rack: 'a' },
    agentVersion: '0.1.0',
    replace: false,
    ...fields,
  };
}

test('proves possession of a key that was made here, and pins the keys that sign grants', async () => {
  const server = await aServer(() => ({ status: 201, body: accepted }));
  const enrollment = anEnrollment(server.url);
  const { identity } = await enroll(enrollment);
  const [seen] = server.seen;
  expect(seen?.authorization).toBe('Bearer token-1');
  const { signature, ...unsigned } = EnrollRequest.parse(seen?.body);
  expect(isSignedBy(unsigned.publicKey, enrollmentBytes(unsigned), signature)).toBe(true);
  expect(unsigned).toMatchObject({ name: 'host-1', labels: { rack: 'a' } });
  expect(JSON.stringify(seen?.body)).not.toContain(identity.key.d);
  expect(await findIdentity(enrollment.state)).toEqual(identity);
  expect(identity).toMatchObject({ hostId: 'host_1', siteId: 'site_1', signingKeys: accepted.signingKeys });
});

test('does not enrol twice unless told to replace', async () => {
  const server = await aServer(() => ({ status: 201, body: accepted }));
  const enrollment = anEnrollment(server.url);
  const first = await enroll(enrollment);
  await expect(enroll(enrollment)).rejects.toMatchObject({ code: 'already_enrolled' });
  const second = await enroll({ ...enrollment, replace: true });
  expect(second.identity.key.x).not.toBe(first.identity.key.x);
});

test('keeps the present enrolment when a replacement is refused', async () => {
  let status = 201;
  const problem = { code: 'bad_enrollment_token', detail: 'the token has expired' };
  const server = await aServer(() => ({ status, body: status === 201 ? accepted : problem }));
  const enrollment = anEnrollment(server.url);
  const { identity } = await enroll(enrollment);
  status = 401;
  await expect(enroll({ ...enrollment, replace: true })).rejects.toMatchObject({
    code: 'bad_enrollment_token',
    message: 'the server refused: the token has expired',
  });
  expect(await findIdentity(enrollment.state)).toEqual(identity);
});

test('asks again with the same key when the answer was lost', async () => {
  let status = 502;
  const server = await aServer(() => ({ status, body: status === 201 ? accepted : '<html>bad gateway</html>' }));
  const enrollment = anEnrollment(server.url);
  await expect(enroll(enrollment)).rejects.toMatchObject({ code: 'not_a_gpufleet_server' });
  status = 201;
  await enroll(enrollment);
  const keys = server.seen.map(({ body }) => EnrollRequest.parse(body).publicKey);
  expect(keys[1]).toBe(keys[0]);
});

test.each<[string, number, unknown, string]>([
  ['a refused token without a problem body', 401, 'no', 'token_refused'],
  ['a page of something else', 200, '<html>hello</html>', 'not_a_gpufleet_server'],
  ['an answer without signing keys', 201, { ...accepted, signingKeys: [] }, 'not_a_gpufleet_server'],
  ['a server that has no such path', 404, 'not found', 'not_a_gpufleet_server'],
  ['a problem with its code', 503, { code: 'database_full', detail: 'disk full' }, 'database_full'],
])('says what is wrong with %s', async (_title, status, body, code) => {
  const server = await aServer(() => ({ status, body }));
  const enrollment = anEnrollment(server.url);
  await expect(enroll(enrollment)).rejects.toMatchObject({ code });
  expect(await findIdentity(enrollment.state)).toBeUndefined();
});

test('says that nothing listens', async () => {
  const { url } = await aServer(() => ({ status: 500, body: '' }));
  servers.pop()?.close();
  await expect(enroll(anEnrollment(url))).rejects.toMatchObject({
    code: 'server_unreachable',
    message: `${url} cannot be reached: nothing listens there (ECONNREFUSED)`,
  });
});

test('does not carry the token to where a redirect leads', async () => {
  const other = await aServer(() => ({ status: 201, body: accepted }));
  const server = createServer((_request, response) => response.writeHead(307, { location: other.url }).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(enroll(anEnrollment(url))).rejects.toMatchObject({ code: 'not_a_gpufleet_server' });
  expect(other.seen).toEqual([]);
});

test('refuses a name or a URL that the server would refuse, before it asks', async () => {
  await expect(enroll(anEnrollment('http://127.0.0.1:1', { name: 'a b' }))).rejects.toMatchObject({
    code: 'enrollment_invalid',
  });
  for (const url of ['fleet.example.com', 'ftp://fleet.example.com', 'https://user:secret@fleet.example.com'])
    expect(() => parseServerUrl(url)).toThrow(/server URL/);
});

test.each([
  [{ 'bad key': 'x' }, 'labels.bad key: a label key is 1–63 letters, digits, . _ / -'],
  [{ rack: 'a b' }, 'labels.rack: a label value is up to 63 letters, digits, . _ -'],
])('refuses the labels %j and sends nothing', async (labels, message) => {
  const server = await aServer(() => ({ status: 201, body: accepted }));
  const enrollment = anEnrollment(server.url, { labels });
  await expect(enroll(enrollment)).rejects.toMatchObject({ code: 'enrollment_invalid', message });
  expect(server.seen).toEqual([]);
  expect(await enrollment.state.list('')).toEqual([]);
});

test('an answer that does not end is cut off, not collected', async () => {
  let sent = 0;
  const server = createServer((_request, response) => {
    const chunk = 'x'.repeat(64 * 1024);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
      response.once('drain', more);
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    more();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(enroll(anEnrollment(url))).rejects.toMatchObject({ code: 'not_a_gpufleet_server' });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  server.closeAllConnections();
});
