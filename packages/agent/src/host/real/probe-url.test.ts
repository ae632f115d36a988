import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createSystemClock } from '../../clock.ts';
import { fetchText, probeUrl } from './probe-url.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const clock = createSystemClock();

test('tells status and date of the answer to HEAD, and follows nowhere', async () => {
  const asked: string[] = [];
  const url = await serve((request, answer) => {
    asked.push(`${request.method} ${request.url}`);
    answer.writeHead(301, { date: 'Mon, 30 Nov 2026 10:00:00 GMT', location: '/elsewhere' }).end();
  });
  const answer = { status: 301, dateMs: Date.UTC(2026, 10, 30, 10), tlsError: null };
  expect(await probeUrl(clock, url, 2_000)).toEqual({ ok: true, value: answer });
  expect(asked).toEqual(['HEAD /']);
});

test('does not take a date that is none for one', async () => {
  const url = await serve((_, answer) => answer.writeHead(200, { date: 'today' }).end());
  expect(await probeUrl(clock, url, 2_000)).toMatchObject({ ok: true, value: { dateMs: null } });
});

test('leaves a server that does not answer', async () => {
  const url = await serve(() => undefined);
  expect(await probeUrl(clock, url, 50)).toMatchObject({ ok: false, because: 'timed_out' });
});

test('fetches a file by https only, from a server that proves who it is', async () => {
  const url = await serve((_, answer) => answer.end('key'));
  expect(await fetchText(clock, url, 2_000, 100)).toMatchObject({ ok: false, detail: 'not an https address' });
  const spoken = await fetchText(clock, url.replace('http:', 'https:'), 2_000, 100);
  expect(spoken).toMatchObject({ ok: false, because: 'io_error' });
});
