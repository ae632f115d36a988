import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { challengeBytes, type ServerMessage } from '@gpufleet/shared/protocol';
import { afterEach, expect, test } from 'vitest';
import { createSystemClock } from '../clock.ts';
import { createKey, isSignedBy, openPrivateKey, signText } from '../identity/key.ts';
import type { Log } from '../jobs/engine.ts';
import type { Link } from './machine.ts';
import { createSession, type Session, toAgentUrl } from './session.ts';
import { FakeServer } from './testing/fake-server.ts';
import { connectWebSocket } from './ws-transport.ts';

const key = createKey();
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function aSession(serverUrl: string, fields: { log?: Log; describe?: () => Promise<never> } = {}) {
  const delivered: ServerMessage[] = [];
  const links: Link['at'][] = [];
  let attempt: { attemptId: string; phase: 'applying' } | null = null;
  const session: Session = createSession({
    serverUrl,
    clock: createSystemClock(),
    log: fields.log ?? silent,
    random: () => 0.01,
    connect: connectWebSocket,
    describe:
      fields.describe ??
      (async () => ({
        protocolVersion: 1,
        hostId: 'host_1',
        agentVersion: '0.1.0',
        bootId: 'boot',
        uptimeMs: 1,
        hostNowMs: 1,
        instanceId: 'i',
        machineFingerprint: 'f',
        capabilities: [],
        sectionHashes: {},
        openAttempts: [],
        owedResults: 0,
        serverEpochSeen: 0,
      })),
    prove: (nonce) => signText(openPrivateKey(key), challengeBytes('host_1', nonce)),
    heartbeatAttempt: () => attempt,
    sectionsDigest: () => undefined,
    uptimeMs: () => 2,
    onTime: () => undefined,
    onOnline: () => undefined,
    onOffline: () => undefined,
    onMessage: (message) => delivered.push(message),

    onHeard: () => undefined,
    onLink: (link) => links.push(link.at),
  });
  cleanups.push(() => session.stop());
  return {
    session,
    delivered,
    links,
    setAttempt: (attemptId: string) => {
      attempt = { attemptId, phase: 'applying' };
    },
  };
}

async function startServer(): Promise<FakeServer> {
  const server = await FakeServer.start();
  cleanups.push(() => server.stop());
  return server;
}

async function until(condition: () => boolean): Promise<void> {
  const giveUpAtMs = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > giveUpAtMs) throw new Error('waited for five seconds in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('answers the challenge with a signature of its key and is online', async () => {
  const server = await startServer();
  const { session } = aSession(server.url);
  session.start();
  await until(() => session.link().at === 'online');
  const hello = server.received[0];
  if (hello?.type !== 'hello' || hello.proof.by !== 'key') throw new Error('expected a hello with a key proof');
  expect(isSignedBy(key.x, challengeBytes('host_1', 'n1'), hello.proof.signature)).toBe(true);
});

test('comes back with the ticket that it was given; a server that challenges it anyway gets a signature', async () => {
  const server = await startServer();
  const { session } = aSession(server.url);
  session.start();
  await until(() => session.link().at === 'online');
  server.sockets[0]?.close();
  await until(() => server.sockets.length === 2 && session.link().at === 'online');
  expect(server.tickets).toEqual([undefined, 'Ticket ticket-1']);
  const proofs = () => server.received.flatMap((message) => (message.type === 'hello' ? [message.proof.by] : []));
  expect(proofs()).toEqual(['key', 'ticket']);
  server.takesTickets = false;
  server.sockets[1]?.close();
  await until(() => server.sockets.length === 3 && session.link().at === 'online');
  expect(proofs().at(-1)).toBe('key');
});

test('forgets its ticket when it is refused, and keeps dialling later', async () => {
  const server = await startServer();
  const { session } = aSession(server.url);
  session.start();
  await until(() => session.link().at === 'online');
  const rejection = { type: 'rejection', code: 'pending_approval', detail: 'wait', retryAfterMs: 10 } as const;
  server.onMessage = (socket, message) => message.type === 'hello' && server.send(socket, rejection);
  server.sockets[0]?.close();
  await until(() => session.link().at === 'refused');
  await until(() => server.sockets.length >= 3);
  expect(server.tickets.slice(0, 3)).toEqual([undefined, 'Ticket ticket-1', undefined]);
});

test('sends heartbeats that carry the running attempt', async () => {
  const server = await startServer();
  const { session, setAttempt } = aSession(server.url);
  setAttempt('attempt_1');
  session.start();
  await until(() => server.received.filter((message) => message.type === 'heartbeat').length >= 2);
  expect(server.received.find((message) => message.type === 'heartbeat')).toEqual({
    type: 'heartbeat',
    seq: 1,
    uptimeMs: 2,
    attempt: { attemptId: 'attempt_1', phase: 'applying' },
  });
});

test('keeps dialling while nothing listens, and says nothing as sent meanwhile', async () => {
  const server = await startServer();
  const { session, links } = aSession(server.url.replace(/\d+$/, '1'));
  session.start();
  await until(() => links.filter((at) => at === 'dialing').length >= 3);
  expect(links.slice(0, 4)).toEqual(['dialing', 'waiting', 'dialing', 'waiting']);
  expect(session.send({ type: 'section', name: 'os', hash: 'h', body: null })).toBe(false);
});

test('survives nonsense and tells of an unknown message type once', async () => {
  const said: string[] = [];
  const log: Log = { ...silent, info: (_fields, text) => said.push(text), warn: (_fields, text) => said.push(text) };
  const server = await startServer();
  const { session, delivered } = aSession(server.url, { log });
  session.start();
  await until(() => session.link().at === 'online');
  for (const text of ['{', '[]', '{"type":"teleport"}', '{"type":"teleport"}', '{"type":"want","sections":3}'])
    server.sockets[0]?.send(text);
  server.sockets[0]?.send('{"type":"want","sections":["os"],"newer":true}');
  await until(() => delivered.length === 1);
  expect(delivered).toEqual([{ type: 'want', sections: ['os'] }]);
  expect(said.filter((text) => text === 'message type of a newer server ignored')).toHaveLength(1);
  expect(said.filter((text) => text === 'message of the server was not understood')).toHaveLength(3);
});

test('drops a server that does not read instead of filling the memory', async () => {
  const server = await startServer();
  const { session } = aSession(server.url);
  session.start();
  await until(() => session.link().at === 'online');
  server.sockets[0]?.pause();
  const body = 'x'.repeat(500_000);
  let sent = 0;
  while (session.send({ type: 'section', name: 'os', hash: String(sent), body })) sent += 1;
  expect(sent).toBeLessThan(100);
  expect(session.link().at).toBe('waiting');
});

test('waits as long as an overloaded proxy asks', async () => {
  const { createServer } = await import('node:http');
  const proxy = createServer((_request, response) => response.writeHead(503, { 'retry-after': '30' }).end());
  proxy.on('upgrade', (_request, socket) =>
    socket.end('HTTP/1.1 503 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n'),
  );
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  cleanups.push(() => {
    proxy.close();
  });
  const { session } = aSession(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  session.start();
  await until(() => session.link().at === 'waiting');
  const link = session.link();
  expect(link.at === 'waiting' && link.untilMs - performance.now()).toBeGreaterThan(29_000);
});

test('dials beside the path that the server lives under', () => {
  expect(toAgentUrl('https://fleet.example.com')).toBe('wss://fleet.example.com/agent/v1');
  expect(toAgentUrl('http://127.0.0.1:8080/fleet/')).toBe('ws://127.0.0.1:8080/fleet/agent/v1');
});
