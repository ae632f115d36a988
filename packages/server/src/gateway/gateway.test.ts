import { afterEach, expect, test } from 'vitest';
import type { ServerParts } from '../app.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../testing/start-test-server.ts';
import {
  aHello,
  anIdentity,
  aProof,
  aSection,
  connectTestAgent,
  enrollTestHost,
  type Identity,
} from '../testing/test-agent.ts';
import type { AttemptHandlers } from './attempt-handlers.ts';

const servers: TestServer[] = [];
async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function aHost(
  server: TestServer,
  name = 'host-1',
  siteId = 'site-a',
): Promise<{ identity: Identity; hostId: string }> {
  const identity = anIdentity(name);
  const { hostId } = await enrollTestHost(server, identity, { siteId });
  return { identity, hostId };
}

function partsOf(handlers: Partial<AttemptHandlers>): ServerParts {
  const all: AttemptHandlers = {
    onHello: async () => [],
    onGone: async () => undefined,
    onClaim: async () => [],
    onDecline: async () => [],
    onProgress: async () => [],
    onResult: async () => [],
    ...handlers,
  };
  return { createAttemptHandlers: () => all, loops: [] };
}

const aResult = (attemptId: string) => ({
  type: 'result' as const,
  result: {
    attemptId,
    outcome: 'succeeded' as const,
    because: [],
    planHash: null,
    diffs: [],
    steps: [],
    startedAtMs: 1,
    settledAtMs: 2,
  },
});

test('a host proves its key, is welcomed and is online; heartbeats are acknowledged', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  const welcome = await agent.greet();
  expect(welcome).toMatchObject({ protocolVersion: 1, serverEpoch: 1, heartbeatEveryMs: 10_000, staleSections: [] });
  expect(welcome.signingKeyIds).toEqual([server.deps.signer.keyId]);
  agent.send({ type: 'heartbeat', seq: 7, uptimeMs: 1, attempt: null });
  expect(await agent.next('heartbeat_ack')).toEqual({ type: 'heartbeat_ack', seq: 7 });
  const { gateway } = server.deps;
  expect([gateway.isOnline(hostId), gateway.onlineCount(), gateway.sessionEpoch(hostId)]).toEqual([
    true,
    1,
    welcome.sessionEpoch,
  ]);
  agent.close();
  await expect.poll(() => gateway.isOnline(hostId)).toBe(false);
});

test('a signature by another key is refused', async () => {
  const server = await start();
  const { hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, anIdentity());
  await agent.hello();
  expect(await agent.next('rejection')).toMatchObject({ code: 'bad_proof', retryAfterMs: null });
  expect(await agent.closed).toBe(1008);
});

test('a signature over an earlier challenge is refused', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const first = connectTestAgent(server, hostId, identity);
  const challenge = await first.next('challenge');
  const second = connectTestAgent(server, hostId, identity);
  await second.next('challenge');
  second.send({ ...aHello(hostId, identity), proof: aProof(hostId, challenge.nonce, identity) });
  expect(await second.next('rejection')).toMatchObject({ code: 'bad_proof' });
});

test('an unknown host and one that speaks a protocol too old are told so', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const stranger = connectTestAgent(server, 'host_nobody', anIdentity());
  await stranger.hello();
  expect(await stranger.next('rejection')).toMatchObject({ code: 'unknown_host' });
  const old = connectTestAgent(server, hostId, identity);
  await old.hello({ protocolVersion: 0 });
  expect(await old.next('rejection')).toMatchObject({ code: 'protocol_unsupported' });
});

test('a pending host is told to come back, and is welcomed once accepted', async () => {
  const server = await start();
  await server.call('POST', '/sites', { id: 'site-careful', requireApproval: true });
  const { identity, hostId } = await aHost(server, 'host-1', 'site-careful');
  const early = connectTestAgent(server, hostId, identity);
  await early.hello();
  expect(await early.next('rejection')).toMatchObject({ code: 'pending_approval', retryAfterMs: 30_000 });
  await server.call('POST', `/hosts/${hostId}/accept`, { reason: 'ours' });
  await connectTestAgent(server, hostId, identity).greet();
  expect(server.deps.gateway.isOnline(hostId)).toBe(true);
});

test('a ticket resumes without a signature, in the hello or at the upgrade', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const { ticket } = await connectTestAgent(server, hostId, identity).greet();
  await connectTestAgent(server, hostId, identity).greet({ proof: { by: 'ticket', ticket } });
  const byHeader = connectTestAgent(server, hostId, identity, { authorization: `Ticket ${ticket}` });
  await byHeader.greet({ proof: { by: 'ticket', ticket: 'sent-before' } });
  expect(server.deps.gateway.isOnline(hostId)).toBe(true);
});

test('a ticket outlives a restart and not its expiry', async () => {
  const clock = new ManualClock();
  const server = await startTestServer({ clock });
  const { identity, hostId } = await aHost(server);
  const { ticket } = await connectTestAgent(server, hostId, identity).greet();
  await server.stop({ keep: true });
  const again = await start({ clock, folder: server.folder });
  await connectTestAgent(again, hostId, identity).greet({ proof: { by: 'ticket', ticket } });
  clock.advance(3_600_000);
  const late = connectTestAgent(again, hostId, identity);
  await late.hello({ proof: { by: 'ticket', ticket } });
  expect(await late.next('rejection')).toMatchObject({ code: 'bad_proof', retryAfterMs: 0 });
});

test('a ticket is void once its host is revoked, and so is the open session', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  const { ticket } = await agent.greet();
  await server.call('POST', `/hosts/${hostId}/decommission`, { reason: 'stolen' });
  expect(await agent.next('rejection')).toMatchObject({ code: 'revoked', retryAfterMs: null });
  const again = connectTestAgent(server, hostId, identity);
  await again.hello({ proof: { by: 'ticket', ticket } });
  expect(await again.next('rejection')).toMatchObject({ code: 'revoked' });
});

test('a ticket from before a decommission stays void when the same key is enrolled again', async () => {
  // Time stands still: the two enrolments are told apart although the clock says the same.
  const server = await start({ clock: new ManualClock() });
  const { identity, hostId } = await aHost(server);
  const { ticket } = await connectTestAgent(server, hostId, identity).greet();
  await server.call('POST', `/hosts/${hostId}/decommission`, { reason: 'stolen' });
  expect((await enrollTestHost(server, identity)).hostId).toBe(hostId);
  const byHello = connectTestAgent(server, hostId, identity);
  await byHello.hello({ proof: { by: 'ticket', ticket } });
  expect(await byHello.next('rejection')).toMatchObject({ code: 'bad_proof' });
  // At the upgrade a void ticket is challenged as none would be.
  const byHeader = connectTestAgent(server, hostId, identity, { authorization: `Ticket ${ticket}` });
  await byHeader.greet();
});

test('a report that differs only in temperature leaves no entry in the history', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  const report = async (name: string, value: Record<string, unknown>) => {
    agent.send(aSection(name, { value }));
    await agent.next('section_ack');
  };
  for (const temperatureC of [41, 77]) await report('gpus', { gpus: [{ name: 'A100', temperatureC }] });
  for (const hostname of ['a', 'b']) await report('os', { hostname });
  const history = async () => (await server.call('GET', `/hosts/${hostId}/history`)).body.items;
  await expect.poll(history, { timeout: 5_000 }).toMatchObject([{ name: 'os', path: 'value.hostname' }]);
  const { body: facts } = await server.call('GET', `/hosts/${hostId}/facts`);
  expect(facts.items[0].body.value.gpus[0].temperatureC).toBe(77);
  agent.close();
});

test('the same machine that connects again replaces its older session', async () => {
  const gone: string[] = [];
  const onGone = async (hostId: string) => void gone.push(hostId);
  const server = await start({ parts: partsOf({ onGone }) });
  const { identity, hostId } = await aHost(server);
  const first = connectTestAgent(server, hostId, identity);
  const { sessionEpoch } = await first.greet();
  const second = await connectTestAgent(server, hostId, identity).greet({ instanceId: 'restarted' });
  expect(second.sessionEpoch).toBeGreaterThan(sessionEpoch);
  await first.closed;
  expect([server.deps.gateway.isOnline(hostId), gone]).toEqual([true, []]);
});

test('one key on two live machines: both are cut off and the host is quarantined', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const first = connectTestAgent(server, hostId, identity);
  await first.greet();
  const clone = connectTestAgent(server, hostId, identity);
  await clone.hello({ instanceId: 'clone', machineFingerprint: 'another-machine' });
  expect(await first.next('rejection')).toMatchObject({ code: 'duplicate_identity' });
  expect(await clone.next('rejection')).toMatchObject({ code: 'duplicate_identity' });
  await expect
    .poll(async () => (await server.call('GET', `/hosts/${hostId}`)).body)
    .toMatchObject({ status: 'quarantined', statusReason: 'duplicate_identity', online: false });
  const audit = await server.call('GET', `/audit?target=host:${hostId}`);
  expect(audit.body.items[0]).toMatchObject({ action: 'host.quarantined', actor: 'system:gateway' });
});

test('a silent session on another machine is taken over, not called a clone', async () => {
  const clock = new ManualClock();
  const server = await start({ clock });
  const { identity, hostId } = await aHost(server);
  await connectTestAgent(server, hostId, identity).greet();
  clock.advance(20_001);
  await connectTestAgent(server, hostId, identity).greet({ instanceId: 'new', machineFingerprint: 'new-board' });
  expect((await server.call('GET', `/hosts/${hostId}`)).body).toMatchObject({ status: 'accepted', online: true });
});

test('epochs rise at every start, and above what any agent has seen', async () => {
  const server = await startTestServer();
  const { identity, hostId } = await aHost(server);
  const first = await connectTestAgent(server, hostId, identity).greet();
  await server.stop({ keep: true });
  const again = await start({ folder: server.folder });
  const second = await connectTestAgent(again, hostId, identity).greet();
  expect([first.serverEpoch, second.serverEpoch]).toEqual([1, 2]);
  expect(second.sessionEpoch).toBeGreaterThan(first.sessionEpoch);
  const third = await connectTestAgent(again, hostId, identity).greet({ serverEpochSeen: 41 });
  expect(third.serverEpoch).toBe(42);
  expect(third.sessionEpoch).toBeGreaterThan(second.sessionEpoch);
  expect(await again.db.read.get("SELECT value FROM meta WHERE key = 'serverEpoch'")).toEqual({ value: '42' });
});

test('only sections whose hash differs are wanted, and stored once acknowledged', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const os = aSection('os', { value: { a: 1 } });
  const gpus = aSection('gpus', { value: { b: 2 } });
  const first = connectTestAgent(server, hostId, identity);
  const hashes = { os: os.hash, gpus: gpus.hash, invented: 'x' };
  expect((await first.greet({ sectionHashes: hashes })).staleSections).toEqual(['os', 'gpus']);
  expect(await first.next('want')).toEqual({ type: 'want', sections: ['os', 'gpus'] });
  first.send(os);
  expect(await first.next('section_ack')).toEqual({ type: 'section_ack', name: 'os', hash: os.hash });
  first.close();
  await first.closed;
  const second = connectTestAgent(server, hostId, identity);
  expect((await second.greet({ sectionHashes: hashes })).staleSections).toEqual(['gpus']);
  second.send(gpus);
  await second.next('section_ack');
  const third = connectTestAgent(server, hostId, identity);
  expect((await third.greet({ sectionHashes: hashes })).staleSections).toEqual([]);
});

test('a diagnosis that is none ends the session and keeps nothing', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  agent.send(aSection('diagnosis', { findings: [{ code: 'lower' }], cannotTell: [] }));
  expect(await agent.next('rejection')).toMatchObject({
    code: 'bad_message',
    detail: expect.stringContaining('findings.0.code'),
  });
  expect((await server.call('GET', `/hosts/${hostId}/facts`)).body.items).toEqual([]);
});

test.each([
  ['no JSON', 'hello'],
  ['a message before the hello', '{"type":"heartbeat","seq":1,"uptimeMs":1,"attempt":null}'],
  ['a hello without a host', '{"type":"hello","protocolVersion":1}'],
])('%s ends the session', async (_name, text) => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.next('challenge');
  agent.sendText(text);
  expect(await agent.next('rejection')).toMatchObject({ code: 'bad_message', retryAfterMs: 30_000 });
  expect(await agent.closed).toBe(1008);
});

test('a message of an unknown type is from a newer agent: ignored', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  agent.sendText('{"type":"telepathy","thought":1}');
  agent.send({ type: 'heartbeat', seq: 1, uptimeMs: 1, attempt: null });
  expect(await agent.next('heartbeat_ack')).toMatchObject({ seq: 1 });
});

test('a message over the limit and a flood of messages end the session', async () => {
  const server = await start({ clock: new ManualClock() });
  const { identity, hostId } = await aHost(server);
  const big = connectTestAgent(server, hostId, identity);
  await big.greet();
  big.sendText(`{"type":"x","text":"${'a'.repeat(1024 * 1024)}"}`);
  expect(await big.closed).toBe(1009);
  const flood = connectTestAgent(server, hostId, identity);
  await flood.greet();
  for (let seq = 0; seq < 500; seq++) flood.send({ type: 'heartbeat', seq, uptimeMs: 1, attempt: null });
  expect(await flood.next('rejection')).toMatchObject({ code: 'bad_message', detail: 'too many messages' });
});

test('who does not say hello, and who falls silent, is cut off', async () => {
  const clock = new ManualClock();
  const server = await start({ clock });
  const { identity, hostId } = await aHost(server);
  const mute = connectTestAgent(server, hostId, identity);
  await mute.next('challenge');
  clock.advance(11_000);
  await mute.closed;
  const silent = connectTestAgent(server, hostId, identity);
  await silent.greet();
  clock.advance(31_000);
  await silent.closed;
  await expect.poll(() => server.deps.gateway.isOnline(hostId)).toBe(false);
});

test('a connection to another path is refused', async () => {
  const server = await start();
  const response = await fetch(`${server.url}/agent/v0`, {
    headers: { upgrade: 'websocket', connection: 'upgrade' },
  }).catch((error: Error) => error);
  expect(response instanceof Error || response.status === 404).toBe(true);
});

test('an answer is sent after its handler is done, and messages of one host are taken in order', async () => {
  const log: string[] = [];
  const onResult: AttemptHandlers['onResult'] = async (_hostId, { result }) => {
    log.push(`begin ${result.attemptId}`);
    await new Promise((resolve) => setTimeout(resolve, result.attemptId === 'a' ? 30 : 1));
    log.push(`end ${result.attemptId}`);
    return [{ type: 'result_ack', attemptId: result.attemptId }];
  };
  const server = await start({ parts: partsOf({ onResult }) });
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  agent.send(aResult('a'));
  agent.send(aResult('b'));
  agent.send({ type: 'heartbeat', seq: 1, uptimeMs: 1, attempt: null });
  await agent.next('heartbeat_ack');
  expect(log).not.toContain('end a');
  await agent.next('result_ack');
  await agent.next('result_ack');
  expect(log).toEqual(['begin a', 'end a', 'begin b', 'end b']);
});

test('a handler that fails ends the session without an acknowledgement', async () => {
  const onResult = async () => {
    throw new Error('the disk is gone');
  };
  const server = await start({ parts: partsOf({ onResult }) });
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  agent.send(aResult('a'));
  expect(await agent.closed).toBe(1011);
  expect(agent.received.map((message) => message.type)).not.toContain('result_ack');
});

test('a host has reconciled once its open attempts were taken in', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: unknown[] = [];
  const onHello: AttemptHandlers['onHello'] = async (_hostId, hello, session) => {
    seen.push(hello.openAttempts, session.serverEpoch);
    await held;
    return [{ type: 'cancel', attemptId: 'a', because: 'test' }];
  };
  const server = await start({ parts: partsOf({ onHello }) });
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  const openAttempts = [{ attemptId: 'a', jobId: 'j', phase: 'applying' as const, serverEpoch: 1 }];
  await agent.greet({ openAttempts });
  expect(server.deps.gateway.hasReconciled(hostId)).toBe(false);
  release();
  await agent.next('cancel');
  expect(server.deps.gateway.hasReconciled(hostId)).toBe(true);
  expect(seen).toEqual([openAttempts, 1]);
});

test('what a session says of its host is written down in batches, and nothing at each heartbeat', async () => {
  const clock = new ManualClock();
  const server = await start({ clock });
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet({ bootId: 'boot-9', hostNowMs: clock.nowMs() + 5_000 });
  clock.advance(1_000);
  const read = async () => (await server.call('GET', `/hosts/${hostId}`)).body;
  await expect.poll(read).toMatchObject({ bootId: 'boot-9', clockSkewMs: 5_000, lastSeenAtMs: clock.nowMs() - 1_000 });
  await expect.poll(() => server.db.stats().waiting).toBe(0);
  const { writes } = server.db.stats();
  for (let seq = 0; seq < 20; seq++) agent.send({ type: 'heartbeat', seq, uptimeMs: 1, attempt: null });
  for (let seq = 0; seq < 20; seq++) await agent.next('heartbeat_ack');
  expect(server.db.stats().writes).toBe(writes);
  const heardAtMs = clock.nowMs();
  const readLater = async () => {
    clock.advance(1_000);
    return (await read()).lastSeenAtMs;
  };
  await expect.poll(readLater).toBe(heardAtMs);
});

test('coming and going is told to listeners', async () => {
  const clock = new ManualClock();
  const server = await start({ clock });
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  clock.advance(1_000);
  const types = async () =>
    (await server.db.read.all<{ type: string }>("SELECT type FROM events WHERE type LIKE 'host.o%' ORDER BY id")).map(
      (row) => row.type,
    );
  await expect.poll(types).toEqual(['host.online']);
  agent.close();
  await agent.closed;
  await expect.poll(() => server.deps.gateway.isOnline(hostId)).toBe(false);
  clock.advance(1_000);
  await expect.poll(types).toEqual(['host.online', 'host.offline']);
});

test('a stopping server tells its agents to come back', async () => {
  const server = await startTestServer();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  await server.stop();
  expect(await agent.next('drain')).toEqual({ type: 'drain', retryAfterMs: 2_000 });
  expect(await agent.closed).toBe(1001);
});

test('a report that the store does not have is asked for again when it is told twice, once a session', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  const beat = (seq: number, sectionsDigest?: string) =>
    agent.send({ type: 'heartbeat', seq, uptimeMs: seq, attempt: null, sectionsDigest });
  for (const seq of [1, 2, 3, 4]) beat(seq, 'aaaaaaaaaaaa,');
  expect((await agent.next('want')).sections).toContain('gpus');
  beat(5);
  await agent.next('heartbeat_ack');
  expect(agent.received.filter(({ type }) => type === 'want')).toHaveLength(1);
});

test('a void ticket at the upgrade is challenged, and the hello that was sent with it does no harm', async () => {
  const server = await start();
  const { identity, hostId } = await aHost(server);
  const agent = connectTestAgent(server, hostId, identity, { authorization: 'Ticket of.another.store' });
  const { nonce } = await agent.next('challenge');
  agent.send({ ...aHello(hostId, identity), proof: { by: 'ticket', ticket: 'of.another.store' } });
  agent.send({ ...aHello(hostId, identity), proof: aProof(hostId, nonce, identity) });
  await agent.next('welcome');
  expect(agent.received.map(({ type }) => type)).toEqual(['challenge', 'welcome']);
});
