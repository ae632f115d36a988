import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../testing/start-test-server.ts';
import { isDeeperThan } from './json-body.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test('an answer that failed is problem details with code and request id', async () => {
  const { status, headers, body } = await server.call('GET', '/nothing');
  expect(status).toBe(404);
  expect(headers.get('content-type')).toContain('application/problem+json');
  expect(body).toEqual({
    type: 'urn:gpufleet:error:not_found',
    title: 'not found',
    status: 404,
    code: 'not_found',
    detail: 'there is nothing at /api/v1/nothing',
    instance: '/api/v1/nothing',
    requestId: headers.get('x-request-id'),
  });
});

test('a known path with another method is 405 and says which it takes', async () => {
  const { status, headers, body } = await server.call('PUT', '/sites/site-a', {});
  expect([status, body.code]).toEqual([405, 'method_not_allowed']);
  expect(headers.get('allow')).toBe('DELETE, GET, PATCH');
});

test('a body over 1 MiB is 413', async () => {
  const raw = JSON.stringify({ id: 'x'.repeat(1024 * 1024) });
  const { status, body } = await server.call('POST', '/sites', undefined, { raw });
  expect([status, body.code]).toEqual([413, 'body_too_large']);
});

test('a body that is not JSON by its type is 415', async () => {
  const options = { raw: 'id: site-a', headers: { 'content-type': 'text/plain' } };
  const { status, body } = await server.call('POST', '/sites', undefined, options);
  expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
});

test.each([
  ['{"id": ', 'bad_json'],
  ['', 'bad_json'],
  ['{"__proto__": {"role": "admin"}, "id": "site-p"}', 'bad_json'],
  ['{"id": "site-p", "constructor": {"prototype": {"x": 1}}}', 'bad_json'],
  [`{"id": ${'['.repeat(40)}${']'.repeat(40)}}`, 'bad_json'],
  ['null', 'bad_request'],
  ['[]', 'bad_request'],
])('the body %s is refused', async (raw, code) => {
  const { status, body } = await server.call('POST', '/sites', undefined, { raw });
  expect([status, body.code]).toEqual([400, code]);
});

test('brackets inside strings are no depth', () => {
  expect(isDeeperThan(`{"a": "${'['.repeat(100)}\\"${'{'.repeat(100)}"}`, 2)).toBe(false);
  expect(isDeeperThan('[[[1]]]', 2)).toBe(true);
  expect(isDeeperThan('[[1],[2],[3]]', 2)).toBe(false);
});

test.each(['wrong', 'Bearer', `Bearer ${'a'.repeat(48)}`, 'Basic YTpi'])(
  'the authorization %j is 401',
  async (authorization) => {
    const { status, body } = await server.call('GET', '/sites', undefined, { token: null, headers: { authorization } });
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
  },
);

test('an address that tries many wrong tokens must wait, while a right one from there never does', async () => {
  const own = await startTestServer();
  const tries = [];
  for (let i = 0; i < 25; i++)
    tries.push(await own.call('GET', '/sites', undefined, { token: `wrong-${'x'.repeat(20)}-${i}` }));
  expect(tries.filter((answer) => answer.status === 401)).toHaveLength(20);
  const last = tries.at(-1);
  expect([last?.status, last?.body.code, last?.headers.get('retry-after')]).toEqual([
    429,
    'too_many_failed_logins',
    '3',
  ]);
  expect((await own.call('POST', '/stop', { reason: 'all of it' })).status).toBe(200);
  await own.stop();
});

test.each([
  ['/sites/%', 400, 'bad_request'],
  ['/sites/%ff%fe', 400, 'bad_request'],
  [`/sites/${'x'.repeat(200)}`, 404, 'not_found'],
])('the path %s is refused in the same form as everything else', async (path, status, code) => {
  const answer = await server.call('GET', path);
  expect([answer.status, answer.body.status, answer.body.code]).toEqual([status, status, code]);
  expect(answer.headers.get('content-type')).toContain('application/problem+json');
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
});

/** What the server says to these bytes until it closes. */
async function say(...parts: string[]): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, async () => {
      for (const part of parts) {
        socket.write(part);
        await new Promise((next) => setTimeout(next, 20));
      }
    });
    let text = '';
    socket.on('data', (data) => {
      text += data.toString();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

test('headers that are too long are answered and the server goes on', async () => {
  const answer = await say(`GET / HTTP/1.1\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`);
  expect(answer).toContain('431 Request Header Fields Too Large');
  expect(answer).toContain('"code":"headers_too_large"');
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

const h2c = 'Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n';

test('a client that offers HTTP/2 is answered over HTTP/1.1', async () => {
  expect(await say(`GET /healthz HTTP/1.1\r\n${h2c}\r\n`)).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"status":"ok"\}$/s);
});

test('a client that offers HTTP/2 with a body that comes in pieces is answered over HTTP/1.1', async () => {
  const head = `POST /api/v1/sites HTTP/1.1\r\n${h2c}Authorization: Bearer ${server.tokens.admin}\r\n`;
  const answer = await say(`${head}Content-Type: application/json\r\nContent-Length: 16\r\n\r\n{"id":`, '"site-h2"}');
  expect(answer).toMatch(/^HTTP\/1.1 201 Created\r\n.*"id":"site-h2"/s);
});

test('answers forbid sniffing, framing and caching', async () => {
  const { headers } = await server.call('GET', '/sites');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('cache-control')).toBe('no-store');
});

test('health, readiness and metrics are there without a token', async () => {
  await server.call('GET', '/sites');
  expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${server.url}/readyz`)).json()).toEqual({ status: 'ready' });
  const metrics = await fetch(`${server.url}/metrics`);
  expect(metrics.headers.get('content-type')).toContain('text/plain');
  const text = await metrics.text();
  expect(text).toContain('gpufleet_agents_online 0');
  expect(text).toContain('gpufleet_findings_open{severity="critical"} 0');
  expect(text).toMatch(/gpufleet_http_requests_total\{method="GET",route="\/api\/v1\/sites",status="200"\} \d/);
});

test('OpenAPI 3.1 documents every route with its role’s security and its problems', async () => {
  const { status, body } = await server.call('GET', '/openapi.json', undefined, { token: null });
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  expect(Object.keys(body.paths)).toEqual(
    expect.arrayContaining(['/api/v1/sites', '/api/v1/hosts/{id}', '/api/v1/enroll']),
  );
  expect(body.paths['/api/v1/enroll'].post.security).toEqual([]);
  const post = body.paths['/api/v1/sites'].post;
  expect(post.requestBody.content['application/json'].schema.additionalProperties).toBe(false);
  expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['201', '4XX', '5XX']));
  for (const path of Object.values<Record<string, { summary?: string }>>(body.paths))
    for (const operation of Object.values(path)) expect(operation.summary).toBeTruthy();
});

test('every reference in the OpenAPI document leads somewhere', async () => {
  const { body } = await server.call('GET', '/openapi.json');
  const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? '');
  for (const reference of references) {
    const target = reference
      .split('/')
      .reduce((at, part) => at?.[part.replaceAll('~1', '/').replaceAll('~0', '~')], body);
    expect(target, reference).toBeDefined();
  }
});
