import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import { eq } from 'drizzle-orm';
import { afterEach, expect, test } from 'vitest';
import { attemptTable } from '../resources/jobs/table.ts';
import { rolloutTable, slotTable } from '../resources/rollouts/table.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../testing/start-test-server.ts';
import { anIdentity, connectTestAgent, enrollTestHost, type Identity, type TestAgent } from '../testing/test-agent.ts';
import { auditCounters } from './audit-counters.ts';
import { aSpec, slotsOf, startRollout, until, untilState } from './testing/a-rollout.ts';
import { aScriptedAgent, stoppedDocker } from './testing/scripted-agent.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function aServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}

interface Hand {
  server: TestServer;
  identity: Identity;
  hostId: string;
  agent: TestAgent;
  sessionEpoch: number;
}

/** A host whose agent says only what the test makes it say. */
async function aHand(server: TestServer): Promise<Hand> {
  const identity = anIdentity();
  const { hostId } = await enrollTestHost(server, identity);
  return connect({ server, identity, hostId });
}

async function connect(
  { server, identity, hostId }: Pick<Hand, 'server' | 'identity' | 'hostId'>,
  hello: Parameters<TestAgent['greet']>[0] = {},
): Promise<Hand> {
  const agent = connectTestAgent(server, hostId, identity);
  const { sessionEpoch } = await agent.greet(hello);
  agent.send({ type: 'section', name: 'docker', hash: 'docker-1', body: stoppedDocker });
  await agent.next('section_ack');
  return { server, identity, hostId, agent, sessionEpoch };
}

function claim(hand: Hand, attemptId: string, planHash: string | null, sessionEpoch = hand.sessionEpoch) {
  const plan = { outcome: 'plan' as const, planHash, disruption: 'none' as const, worstCaseMs: 60_000, summary: [] };
  hand.agent.send({ type: 'claim', attemptId, sessionEpoch, plan });
}

async function granted(hand: Hand) {
  const offer = await hand.agent.next('offer');
  claim(hand, offer.attemptId, offer.planHash);
  return { offer, grant: await hand.agent.next('grant') };
}

function aResult(attemptId: string, outcome: AttemptResult['outcome'] = 'succeeded'): AttemptResult {
  return { attemptId, outcome, because: [], planHash: null, diffs: [], steps: [], startedAtMs: 1, settledAtMs: 2 };
}

function open(attemptId: string) {
  return { attemptId, jobId: attemptId.replace(/-\d+$/, ''), phase: 'applying' as const, serverEpoch: 1 };
}

test('a grant that was lost on the way is sent again, the same, and never begun makes room for a new attempt', async () => {
  const server = await aServer();
  const first = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer, grant } = await granted(first);
  first.agent.close();
  const second = await connect(first);
  expect(await second.agent.next('grant')).toEqual(grant);
  second.agent.send({
    type: 'decline',
    attemptId: offer.attemptId,
    because: [{ because: 'stale_session', detail: 'x' }],
  });
  const again = await granted(second);
  expect(again.offer.attemptId).toBe(offer.attemptId.replace(/-1$/, '-2'));
  second.agent.send({ type: 'result', result: aResult(again.offer.attemptId) });
  await untilState(server, id, 'succeeded');
  const { body: attempt } = await server.call('GET', `/attempts/${offer.attemptId}`);
  expect(attempt.result).toMatchObject({ outcome: 'failed', because: [{ because: 'never_begun' }] });
  second.agent.close();
});

test('any other word on a granted attempt says nothing of the grant', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer } = await granted(hand);
  hand.agent.send({ type: 'decline', attemptId: offer.attemptId, because: [{ because: 'busy', detail: 'x' }] });
  hand.agent.send({ type: 'progress', attemptId: offer.attemptId, phase: 'applying', step: null, steps: 1, text: 'x' });
  await until(
    async () => (await server.call('GET', `/attempts/${offer.attemptId}`)).body,
    (attempt) => attempt.phase === 'applying',
  );
  expect((await slotsOf(server, id))[0].state).toBe('granted');
  hand.agent.close();
});

test('an attempt whose record the host has lost fails and asks a person', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer } = await granted(hand);
  hand.agent.send({ type: 'decline', attemptId: offer.attemptId, because: [{ because: 'replayed', detail: 'gone' }] });
  expect((await untilState(server, id, 'halted')).because.because).toBe('canary_failed');
  expect((await slotsOf(server, id))[0].detail).toContain('record_lost');
  hand.agent.close();
});

test('a result is written once: the same again is acknowledged, another changes nothing', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer } = await granted(hand);
  for (const outcome of ['succeeded', 'succeeded', 'failed'] as const) {
    hand.agent.send({ type: 'result', result: aResult(offer.attemptId, outcome) });
    expect(await hand.agent.next('result_ack')).toEqual({ type: 'result_ack', attemptId: offer.attemptId });
  }
  await untilState(server, id, 'succeeded');
  expect((await server.call('GET', `/attempts/${offer.attemptId}`)).body.result.outcome).toBe('succeeded');
  hand.agent.close();
});

test('a host speaks for itself alone', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const identity = anIdentity('host-2');
  const { hostId } = await enrollTestHost(server, identity, { siteId: 'site-b' });
  const stranger = await connect({ server, identity, hostId });
  await startRollout(server, aSpec({}, { target: { sites: ['site-a'] } }));
  const { offer } = await granted(hand);
  claim(stranger, offer.attemptId, offer.planHash);
  expect(await stranger.agent.next('refusal')).toMatchObject({ because: 'unknown_attempt' });
  stranger.agent.send({ type: 'result', result: aResult(offer.attemptId) });
  await stranger.agent.next('result_ack');
  expect((await server.call('GET', `/attempts/${offer.attemptId}`)).body.state).toBe('granted');
  hand.agent.close();
  stranger.agent.close();
});

test('a host cannot settle, run or invent attempts of another host’s job', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const identity = anIdentity('host-2');
  const { hostId } = await enrollTestHost(server, identity, { siteId: 'site-b' });
  const { body: job } = await server.call('POST', '/jobs', {
    hostId: hand.hostId,
    kind: 'restart_service',
    params: { unit: 'docker', action: 'start' },
  });
  const invented = `${job.id}-77`;
  const stranger = await connect(
    { server, identity, hostId },
    { openAttempts: [{ ...open(invented), jobId: job.id }] },
  );
  stranger.agent.send({ type: 'result', result: aResult(invented) });
  await stranger.agent.next('result_ack');
  const { body } = await server.call('GET', `/jobs/${job.id}`);
  expect([body.state, body.attempts.includes(invented)]).toEqual(['queued', false]);
  expect((await server.call('GET', `/attempts/${invented}`)).status).toBe(404);
  hand.agent.close();
  stranger.agent.close();
});

test('results that no server gave are acknowledged, are kept up to a limit, and break no list', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const ids = [
    '',
    'x'.repeat(5_000),
    '../../etc/passwd',
    'job_x',
    'job_x-0',
    ...Array.from({ length: 210 }, (_, i) => `job_${i}-1`),
  ];
  for (const id of ids) {
    hand.agent.send({ type: 'result', result: aResult(id) });
    await hand.agent.next('result_ack');
  }
  expect(await server.db.read.$count(attemptTable)).toBe(200);
  expect((await server.call('GET', '/jobs')).status).toBe(200);
  hand.agent.close();
}, 20_000);

test('a job that is offered again has a number of its own, whatever numbers its host has told of', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const id = await startRollout(server, aSpec());
  const offer = await hand.agent.next('offer');
  const jobId = offer.jobId;
  hand.agent.close();
  await until(
    async () => server.deps.gateway.onlineCount(),
    (count) => count === 0,
  );
  const again = await connect(hand, { openAttempts: [{ ...open(`${jobId}-3`), jobId }] });
  again.agent.send({ type: 'result', result: aResult(`${jobId}-3`, 'failed') });
  await untilState(server, id, 'halted');
  await server.db.write(async (tx) => tx.delete(attemptTable).where(eq(attemptTable.id, `${jobId}-1`)));
  await server.call('POST', `/rollouts/${id}/resume`, { reason: 'again', disposition: 'retry' });
  expect((await again.agent.next('offer')).attemptId).toBe(`${jobId}-4`);
  again.agent.close();
});

test('a grant that is told again after a cancel is followed by that cancel', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer } = await granted(hand);
  await server.call('POST', `/rollouts/${id}/cancel`, { reason: 'wrong hosts' });
  await hand.agent.next('cancel');
  claim(hand, offer.attemptId, offer.planHash);
  await hand.agent.next('grant');
  expect(await hand.agent.next('cancel')).toMatchObject({ attemptId: offer.attemptId, because: 'wrong hosts' });
  const back = await connect(hand);
  await back.agent.next('grant');
  expect(await back.agent.next('cancel')).toMatchObject({ attemptId: offer.attemptId });
  back.agent.close();
});

test('a claim from an older session or for another plan is refused', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  await startRollout(server, aSpec());
  const offer = await hand.agent.next('offer');
  claim(hand, offer.attemptId, offer.planHash, hand.sessionEpoch - 1);
  expect(await hand.agent.next('refusal')).toMatchObject({ because: 'stale_session' });
  await server.db.write(async (tx) =>
    tx.update(attemptTable).set({ state: 'offered' }).where(eq(attemptTable.id, offer.attemptId)),
  );
  claim(hand, offer.attemptId, 'f'.repeat(64));
  expect(await hand.agent.next('refusal')).toMatchObject({ because: 'plan_changed' });
  hand.agent.close();
});

test('a cancel reaches a host that was away when it was asked for', async () => {
  const server = await aServer();
  const first = await aHand(server);
  const id = await startRollout(server, aSpec());
  const { offer } = await granted(first);
  first.agent.close();
  await until(
    async () => server.deps.gateway.onlineCount(),
    (count) => count === 0,
  );
  await server.call('POST', `/rollouts/${id}/cancel`, { reason: 'wrong hosts' });
  const second = await connect(first, { openAttempts: [open(offer.attemptId)] });
  expect(await second.agent.next('cancel')).toMatchObject({ attemptId: offer.attemptId, because: 'wrong hosts' });
  second.agent.send({ type: 'result', result: aResult(offer.attemptId, 'canceled') });
  await untilState(server, id, 'canceled');
  second.agent.close();
});

test('a server restored from a backup taken before the grant learns what runs, and gives nothing twice', async () => {
  const first = await startTestServer();
  const hand = await aHand(first);
  const created = await first.call('POST', '/rollouts', aSpec());
  await first.stop({ keep: true });
  const backup = mkdtempSync(join(tmpdir(), 'gpufleet-backup-'));
  cpSync(first.folder, backup, { recursive: true });

  const second = await startTestServer({ folder: first.folder });
  const working = await connect({ ...hand, server: second });
  const { id, planHash } = created.body;
  await second.call('POST', `/rollouts/${id}/approve`, { planHash });
  await second.call('POST', `/rollouts/${id}/start`);
  const { offer } = await granted(working);
  const { sessionEpoch } = working;
  await second.stop();

  const restored = await aServer({ folder: backup });
  const back = await connect(
    { ...hand, server: restored },
    { openAttempts: [open(offer.attemptId)], serverEpochSeen: 9 },
  );
  expect(back.sessionEpoch).not.toBe(sessionEpoch);
  const [slot] = await until(
    () => slotsOf(restored, id),
    (slots) => slots[0].state === 'granted',
  );
  expect(slot.attemptIds).toEqual([offer.attemptId]);
  back.agent.send({ type: 'result', result: aResult(offer.attemptId) });
  await back.agent.next('result_ack');
  await until(
    () => slotsOf(restored, id),
    (slots) => slots[0].state === 'succeeded',
  );
  back.agent.close();
});

test('a server restored from a backup learns a result of an attempt that it never gave', async () => {
  const server = await aServer();
  const hand = await aHand(server);
  const { body: job } = await server.call('POST', '/jobs', {
    hostId: hand.hostId,
    kind: 'restart_service',
    params: { unit: 'docker', action: 'start' },
  });
  const offer = await hand.agent.next('offer');
  // The agent knows this attempt from the time that the backup lost, and has settled it.
  hand.agent.send({ type: 'result', result: aResult(offer.attemptId) });
  await hand.agent.next('result_ack');
  expect((await server.call('GET', `/jobs/${job.id}`)).body.state).toBe('succeeded');
  hand.agent.send({ type: 'result', result: aResult('job_unknown-1') });
  await hand.agent.next('result_ack');
  expect((await server.call('GET', '/attempts/job_unknown-1')).body).toMatchObject({
    state: 'settled',
    hostId: hand.hostId,
  });
  hand.agent.close();
});

test('counters that differ from the attempts halt the rollout', async () => {
  const server = await aServer();
  const agents = [await aScriptedAgent(server, 'host-1', 'site-a'), await aScriptedAgent(server, 'host-2', 'site-a')];
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 }, gate: 'manual' }));
  await until(
    () => slotsOf(server, id),
    (slots) => slots.every((slot: { state: string }) => slot.state === 'succeeded'),
  );
  await auditCounters(server.deps, id);
  expect((await server.call('GET', `/rollouts/${id}`)).body.state).toBe('running');
  const [slot] = await slotsOf(server, id);
  await server.db.write(async (tx) => {
    await tx.update(slotTable).set({ state: 'noop' }).where(eq(slotTable.id, slot.id));
    await tx.update(rolloutTable).set({ version: 99 }).where(eq(rolloutTable.id, id));
  });
  await auditCounters(server.deps, id);
  expect((await server.call('GET', `/rollouts/${id}`)).body).toMatchObject({
    state: 'halted',
    because: { because: 'counters_differ', detail: `slot ${slot.id} is noop, its attempts say succeeded` },
  });
  for (const agent of agents) agent.disconnect();
});
