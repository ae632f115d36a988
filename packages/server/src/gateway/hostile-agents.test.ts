import { connect } from 'node:net';
import { agentPath } from '@gpufleet/shared/protocol';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestServer, type TestServer, type TestServerOptions } from '../testing/start-test-server.ts';
import {
  aDiagnosisOf,
  aHello,
  anIdentity,
  aProof,
  aSection,
  connectTestAgent,
  enrollTestHost,
  type Identity,
} from '../testing/test-agent.ts';

const running: TestServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  running.push(server);
  return server;
}

async function aHost(server: TestServer, name = 'host-1'): Promise<{ identity: Identity; hostId: string }> {
  const identity = anIdentity(name);
  const { hostId } = await enrollTestHost(server, identity);
  return { identity, hostId };
}

/** A peer that never closes by itself and never answers a close: it only sends what it is told to. */
async function aStubbornPeer(server: TestServer, hostId: string, identity: Identity) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  let isCut = false;
  socket.on('data', (data) => (text += data.toString('latin1')));
  socket.on('close', () => (isCut = true));
  socket.on('error', () => (isCut = true));
  socket.write(
    `GET ${agentPath} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  );
  const send = (message: unknown) => socket.write(frameOf(JSON.stringify(message)));
  await expect.poll(() => text).toContain('"nonce":"');
  const nonce = /"nonce":"([^"]+)"/.exec(text)?.[1] ?? '';
  send({ ...aHello(hostId, identity), proof: aProof(hostId, nonce, identity) });
  await expect.poll(() => text).toContain('"welcome"');
  return { send, text: () => text, isCut: () => isCut, end: () => socket.destroy() };
}

/** A masked text frame (its mask is zero). */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = 0x81;
  head[1] = 0x80 | 126;
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

test('a revoked host is offline and unheard at once, also when it keeps its socket open and goes on talking', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const peer = await aStubbornPeer(server, hostId, identity);
  await server.call('POST', `/hosts/${hostId}/decommission`, { reason: 'stolen' });
  await expect.poll(() => peer.text()).toContain('"revoked"');
  expect((await server.call('GET', `/hosts/${hostId}`)).body.online).toBe(false);
  peer.send(aDiagnosisOf('GPU_LOST'));
  peer.send(aSection('docker', { value: null }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await server.call('GET', `/hosts/${hostId}/facts`)).body.items).toEqual([]);
  expect((await server.call('GET', '/findings')).body.items).toEqual([]);
  await expect.poll(() => peer.isCut(), { timeout: 8_000 }).toBe(true);
}, 12_000);

test('a host that is revoked while its hello is judged gets no session', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agents = Array.from({ length: 8 }, () => connectTestAgent(server, hostId, identity));
  const revoked = server.call('POST', `/hosts/${hostId}/decommission`, { reason: 'stolen' });
  await Promise.all(agents.map((agent) => agent.hello().catch(() => undefined)));
  await revoked;
  await Promise.all(agents.map((agent) => agent.closed));
  expect(server.deps.gateway.isOnline(hostId)).toBe(false);
});

test('many connections of one host at once end with one session, which is the one that is told things', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agents = Array.from({ length: 6 }, () => connectTestAgent(server, hostId, identity));
  await Promise.all(agents.map((agent) => agent.hello()));
  let open = agents.length;
  for (const agent of agents) void agent.closed.then(() => (open -= 1));
  await expect.poll(() => open).toBe(1);
  expect(server.deps.gateway.isOnline(hostId)).toBe(true);
  expect(server.deps.gateway.onlineCount()).toBe(1);
  for (const agent of agents) agent.close();
});

test('a stolen host that claims to have seen a huge epoch uses up no numbers of the fleet', async () => {
  const server = await start();
  const stolen = await aHost(server, 'host-1');
  const honest = await aHost(server, 'host-2');
  for (const serverEpochSeen of [Number.MAX_SAFE_INTEGER, 2 ** 31, 1_001]) {
    const agent = connectTestAgent(server, stolen.hostId, stolen.identity);
    await agent.greet({ serverEpochSeen });
    agent.close();
  }
  const welcome = await connectTestAgent(server, honest.hostId, honest.identity).greet();
  expect(welcome.serverEpoch).toBe(1);
  expect(Number.isSafeInteger(welcome.sessionEpoch)).toBe(true);
  expect(await server.db.read.get("SELECT value FROM meta WHERE key = 'serverEpoch'")).toEqual({ value: '1' });
});

test('before its hello a peer may not make the server read much', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.next('challenge');
  agent.sendText(JSON.stringify({ type: 'hello', pad: 'x'.repeat(200_000) }));
  expect(await agent.next('rejection')).toMatchObject({ code: 'bad_message' });
});

test('what a host says of itself is kept short', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet({
    agentVersion: 'v'.repeat(30_000),
    bootId: 'b'.repeat(30_000),
    capabilities: Array(500).fill('k'),
  });
  agent.close();
  await expect
    .poll(async () => (await server.call('GET', `/hosts/${hostId}`)).body.agentVersion.length, { timeout: 4_000 })
    .toBe(128);
  expect((await server.call('GET', `/hosts/${hostId}`)).body.bootId).toHaveLength(128);
}, 8_000);

test.each([
  ['binary', Buffer.from([1, 2, 3])],
  ['no JSON', '{"type":'],
  [
    'a claim before the hello',
    '{"type":"claim","attemptId":"a","sessionEpoch":1,"plan":{"outcome":"noop","planHash":null,"disruption":"none","worstCaseMs":0,"summary":[]}}',
  ],
  ['a hello of half its fields', '{"type":"hello"}'],
  ['a prototype', '{"__proto__":{"type":"hello"},"type":"constructor"}'],
])('%s before the hello ends the connection or is ignored, and the server goes on', async (_what, data) => {
  const server = await start();
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${agentPath}`);
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send(data);
  await Promise.race([
    new Promise((resolve) => socket.once('close', resolve)),
    new Promise((resolve) => setTimeout(resolve, 300)),
  ]);
  socket.terminate();
  expect((await server.call('GET', '/hosts')).status).toBe(200);
});
