import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventsOf } from './client.ts';
import { labelChange } from './commands/host.ts';
import { parseParam } from './commands/job.ts';
import { renderTable } from './output.ts';
import { run } from './run.ts';

let folder: string;
let close: () => void = () => undefined;
const seen: { method: string; url: string; auth: string | undefined; body: unknown }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpufleet-cli-'));
  writeFileSync(join(folder, 'token'), 'secret\n');
  seen.length = 0;
});
afterEach(() => {
  close();
  rmSync(folder, { recursive: true, force: true });
});

/** A server that answers each path with the given status and body. */
async function serve(answers: Record<string, { status: number; body: unknown }>): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const path = request.url?.split('?')[0] ?? '';
      seen.push({
        method: request.method ?? '',
        url: request.url ?? '',
        auth: request.headers.authorization,
        body: text && JSON.parse(text),
      });
      const answer = answers[`${request.method} ${path}`] ?? {
        status: 404,
        body: { type: 'about:blank', title: 'Not found', status: 404, code: 'route_not_found' },
      };
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => server.close();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function cli(argv: string[], env: Record<string, string> = {}) {
  const said = { out: '', err: '' };
  const code = await run(
    argv,
    { XDG_CONFIG_HOME: folder, ...env },
    {
      out: (text) => {
        said.out += text;
      },
      err: (text) => {
        said.err += text;
      },
    },
  );
  return { code, ...said };
}

const asUser = (server: string) => ({ GPUFLEET_SERVER: server, GPUFLEET_TOKEN_FILE: join(folder, 'token') });

describe('usage', () => {
  test.each([
    [['no-such']],
    [['host', 'list', '--no-such']],
    [['host']],
    [['rollout', 'show']],
    [['host', 'list', 'extra']],
  ])('%j exits 2 and shows the usage', async (argv) => {
    const { code, out, err } = await cli(argv);
    expect(code).toBe(2);
    expect(out + err).toContain('Usage: gpufleet');
  });

  test('--help exits 0 and gives examples', async () => {
    const { code, out } = await cli(['rollout', 'resume', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('Example:');
  });

  test('an unknown output format names the known ones', async () => {
    const { code, err } = await cli(['host', 'list', '-o', 'xml']);
    expect({ code, err }).toEqual({ code: 2, err: 'gpufleet: -o xml: one of table, json, yaml\n' });
  });

  test('without a login says how to log in', async () => {
    const { code, err } = await cli(['host', 'list']);
    expect(code).toBe(2);
    expect(err).toContain('gpufleet login --server');
  });
});

describe('login', () => {
  test('keeps the token in a file that only its user can read', async () => {
    const server = await serve({ 'GET /api/v1/sites': { status: 200, body: { items: [], nextCursor: null } } });
    const { code } = await cli(['login', '--server', `${server}/`, '--token-file', join(folder, 'token')]);
    const path = join(folder, 'gpufleet/login.json');
    expect(code).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ server, token: 'secret' });
    expect(seen[0]?.auth).toBe('Bearer secret');
  });

  test('keeps nothing when the server refuses the token', async () => {
    const server = await serve({
      'GET /api/v1/sites': {
        status: 401,
        body: {
          type: 'about:blank',
          title: 'Unauthorized',
          status: 401,
          code: 'token_invalid',
          detail: 'the token is not known',
        },
      },
    });
    const { code, err } = await cli(['login', '--server', server, '--token-file', join(folder, 'token')]);
    expect({ code, err }).toEqual({ code: 4, err: 'gpufleet: the token is not known (token_invalid)\n' });
    expect(() => statSync(join(folder, 'gpufleet/login.json'))).toThrow();
  });
});

describe('bad input', () => {
  const login = (server: string, tokenFile: string) => cli(['login', '--server', server, '--token-file', tokenFile]);

  test.each(['nonsense', 'ftp://a', '', 'http://u:p@a', 'http://a?x=1', 'http://a:99999'])(
    'the address %j is refused before anything is sent',
    async (server) => {
      const { code, err } = await login(server, join(folder, 'token'));
      expect(code).toBe(2);
      expect(err).toMatch(/^gpufleet: [^\n]*address[^\n]*\n$/);
    },
  );

  test('a token that is no token is refused, and not shown', async () => {
    for (const text of ['', 'secret two', 'secret\0two', 'secrét', 'x'.repeat(9000)]) {
      writeFileSync(join(folder, 'bad'), text);
      const { code, err } = await login('http://127.0.0.1:9', join(folder, 'bad'));
      expect(code).toBe(2);
      expect(err).not.toContain('secr');
    }
    for (const path of ['/dev/zero', folder, join(folder, 'absent')])
      expect(await login('http://127.0.0.1:9', path)).toMatchObject({ code: 2, err: expect.stringContaining(path) });
  });

  test('a server without a token is not taken for the one of the login file', async () => {
    const { code, err } = await cli(['host', 'list'], { GPUFLEET_SERVER: 'http://127.0.0.1:9' });
    expect(code).toBe(2);
    expect(err).toContain('GPUFLEET_TOKEN_FILE');
  });

  test('a login that cannot be kept says so and leaves the old one', async () => {
    const server = await serve({ 'GET /api/v1/sites': { status: 200, body: { items: [], nextCursor: null } } });
    const blocked = join(folder, 'token', 'login.json');
    const args = ['login', '--server', server, '--token-file', join(folder, 'token')];
    const { code, err } = await cli(args, { GPUFLEET_LOGIN: blocked });
    expect(code).toBe(4);
    expect(err).toContain(blocked);
    expect(await cli(args, { GPUFLEET_LOGIN: '/proc/gpufleet/login.json' })).toMatchObject({ code: 4 });
  });

  test('a rollout file that is no file, or a bomb, is refused', async () => {
    writeFileSync(join(folder, 'bomb'), `a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n`);
    for (const path of ['/dev/zero', folder, join(folder, 'absent'), join(folder, 'bomb')])
      expect(await cli(['rollout', 'plan', '-f', path], asUser('http://127.0.0.1:9'))).toMatchObject({ code: 2 });
  });
});

describe('talking to the server', () => {
  test('a server that is not there exits 3 with what to check', async () => {
    const { code, err } = await cli(['host', 'list'], asUser('http://127.0.0.1:9'));
    expect(code).toBe(3);
    expect(err).toContain('Is the server running');
  });

  test('field errors of the server are shown by path and exit 2', async () => {
    const body = {
      type: 'about:blank',
      title: 'Bad request',
      status: 400,
      code: 'validation_failed',
      errors: [{ path: 'timezone', message: 'unknown zone' }],
    };
    const server = await serve({ 'POST /api/v1/sites': { status: 400, body } });
    const { code, err } = await cli(['site', 'create', 'site-a', '--timezone', 'Mars/Base'], asUser(server));
    expect(code).toBe(2);
    expect(err).toContain('timezone: unknown zone');
  });

  test('prints a table by default and the same items with -o json', async () => {
    const site = {
      id: 'site-a',
      timezone: 'Europe/Berlin',
      displayName: null,
      window: null,
      freezes: [],
      requireApproval: false,
      hosts: 3,
      online: 2,
      createdAtMs: 1,
      version: 1,
    };
    const server = await serve({ 'GET /api/v1/sites': { status: 200, body: { items: [site], nextCursor: null } } });
    expect((await cli(['site', 'list'], asUser(server))).out).toMatch(
      /SITE +TIME ZONE +HOSTS[^\n]*\nsite-a +Europe\/Berlin +3 +2/,
    );
    expect(JSON.parse((await cli(['site', 'list', '-o', 'json'], asUser(server))).out)).toEqual([site]);
  });

  test('an answer of another shape exits 3 instead of printing nonsense', async () => {
    const server = await serve({
      'GET /api/v1/sites': { status: 200, body: { items: [{ id: 7 }], nextCursor: null } },
    });
    expect((await cli(['site', 'list'], asUser(server))).code).toBe(3);
  });

  test('what a server says does not drive the terminal', async () => {
    const body = { type: 'about:blank', title: 'No', status: 403, code: 'forbidden', detail: '\u001b]0;owned\u0007no' };
    const server = await serve({ 'GET /api/v1/sites': { status: 403, body } });
    const { code, err } = await cli(['site', 'list'], asUser(server));
    expect({ code, err }).toEqual({ code: 4, err: 'gpufleet: \\u001b]0;owned\\u0007no (forbidden)\n' });
  });

  test.each([200, 400, 404, 500])(
    'a server of another kind that answers %i is named as such, exit 3',
    async (status) => {
      const server = await serve({ 'GET /api/v1/sites': { status, body: 'hello' } });
      const { code, err } = await cli(['site', 'list'], asUser(server));
      expect(code).toBe(3);
      expect(err).toMatch(/^gpufleet: .*[^\n]*\n$/);
    },
  );

  test('a redirect is not followed: the token stays here', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    close = () => server.close();
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, err } = await cli(['site', 'list'], asUser(address));
    expect(code).toBe(3);
    expect(err).toContain('it points to http://127.0.0.1:1/');
  });

  test('pages without an end are given up', async () => {
    const server = await serve({ 'GET /api/v1/sites': { status: 200, body: { items: [], nextCursor: 'again' } } });
    const { code, err } = await cli(['site', 'list'], asUser(server));
    expect(code).toBe(3);
    expect(err).toContain('do not end');
  });

  test('stop sends the reason', async () => {
    const server = await serve({
      'POST /api/v1/stop': { status: 200, body: { rolloutsHalted: 1, attemptsCanceled: 2 } },
    });
    const { out } = await cli(['stop', '--reason', 'smoke'], asUser(server));
    expect(out).toContain('halted 1 rollouts');
    expect(seen[0]?.body).toEqual({ reason: 'smoke' });
  });
});

describe('values', () => {
  test.each([
    ['a=true', { a: true }],
    ['a=3', { a: 3 }],
    ['a=x,y', { a: ['x', 'y'] }],
    ['a=text', { a: 'text' }],
    ['a={"b":1}', { a: { b: 1 } }],
  ])('param %s', (text, expected) => expect(parseParam(text)).toEqual(expected));

  test('labels are set by key=value and taken away by key-', () => {
    expect([labelChange('env=prod'), labelChange('lab-')]).toEqual([
      ['env', 'prod'],
      ['lab', null],
    ]);
  });

  test('control characters of a host do not reach the terminal', () => {
    expect(renderTable(['X'], [['\u001b[31mred']])).not.toContain('\u001b');
  });

  test('an event stream is split whatever the chunks', async () => {
    const bytes = new TextEncoder().encode(': hi\n\nid: 7\ndata: {"a":\ndata: 1}\n\nid: 8\ndata: {}\n\n');
    async function* chunks() {
      for (const byte of bytes) yield new Uint8Array([byte]);
    }
    const events = [];
    for await (const event of eventsOf(chunks())) events.push(event);
    expect(events).toEqual([
      { id: '7', data: '{"a":1}' },
      { id: '8', data: '{}' },
    ]);
  });
});
