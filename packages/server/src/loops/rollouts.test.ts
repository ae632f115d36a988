import { afterEach, expect, test } from 'vitest';
import { startTestServer, type TestServer, type TestServerOptions } from '../testing/start-test-server.ts';
import { aSpec, slotsOf, startRollout, until, untilState } from './testing/a-rollout.ts';
import { aScriptedAgent, type ScriptedAgent } from './testing/scripted-agent.ts';

const servers: TestServer[] = [];
const agents: ScriptedAgent[] = [];

afterEach(async () => {
  for (const agent of agents.splice(0)) agent.disconnect();
  for (const server of servers.splice(0)) await server.stop();
});

async function aServer(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}

/** Six hosts: three at each of two sites. */
async function aFleet(server: TestServer, perSite = 3): Promise<ScriptedAgent[]> {
  for (const siteId of ['site-a', 'site-b'])
    for (let n = 0; n < perSite; n += 1) agents.push(await aScriptedAgent(server, `${siteId}-host-${n}`, siteId));
  return agents;
}

async function untilSlots(server: TestServer, id: string, state: string, count: number) {
  return until(
    () => slotsOf(server, id),
    (slots) => slots.filter((slot: { state: string }) => slot.state === state).length === count,
  );
}

test('six hosts at two sites are repaired: canary first, then site by site, one at a time', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  const id = await startRollout(server, aSpec());
  const done = await untilState(server, id, 'succeeded');
  expect(done.counters).toMatchObject({ counted: 6, good: 6, bad: 0 });
  const { body: waves } = await server.call('GET', `/rollouts/${id}/waves`);
  expect(waves.items.map((wave: { name: string; state: string }) => [wave.name, wave.state])).toEqual([
    ['canary', 'passed'],
    ['site-a', 'passed'],
    ['site-b', 'passed'],
  ]);
  const opened = waves.items.map((wave: { openedAtMs: number }) => wave.openedAtMs);
  expect([...opened].sort()).toEqual(opened);
  for (const agent of fleet) expect(agent.begun).toHaveLength(1);
  for (const slot of await slotsOf(server, id)) {
    const { body: attempt } = await server.call('GET', `/attempts/${slot.attemptIds[0]}`);
    expect(attempt).toMatchObject({ state: 'settled', result: { outcome: 'succeeded' } });
    expect(attempt.progress[0].text).toBe('applying [1/1]: start_unit docker.service');
  }
  const { body: audit } = await server.call('GET', '/audit?limit=500');
  const actions = audit.items.map((entry: { action: string; actor: string }) => `${entry.actor} ${entry.action}`);
  expect(actions).toEqual(
    expect.arrayContaining(['token:test-admin rollout.approve', 'system:rollouts rollout.pass_wave']),
  );
});

test('a failed canary halts, waiting slots say so, and retry repairs the rest', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  for (const agent of fleet) agent.behaviour = 'rolled_back';
  const id = await startRollout(server, aSpec());
  const halted = await untilState(server, id, 'halted');
  expect(halted.because.because).toBe('canary_failed');
  expect(fleet.flatMap((agent) => agent.begun)).toHaveLength(1);
  const waiting = (await slotsOf(server, id)).filter((slot: { state: string }) => slot.state === 'queued');
  expect(waiting).toHaveLength(5);
  for (const slot of waiting)
    expect(slot.waiting).toMatchObject({ because: 'rollout', clearedBy: 'resuming the rollout' });

  const refused = await server.call('POST', `/rollouts/${id}/resume`, { reason: 'go on' });
  expect(refused.status).toBe(409);
  expect(refused.body.code).toBe('slots_need_disposition');
  expect(refused.body.errors).toHaveLength(1);

  for (const agent of fleet) agent.behaviour = 'succeeded';
  const resumed = await server.call('POST', `/rollouts/${id}/resume`, { reason: 'fixed', disposition: 'retry' });
  expect(resumed.status).toBe(200);
  const done = await untilState(server, id, 'succeeded');
  expect(done.counters).toMatchObject({ good: 6, bad: 0 });
  expect(fleet.flatMap((agent) => agent.begun)).toHaveLength(7);
});

test('a host that cannot be put back is quarantined, and accepting it lets the rest go on', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 } }));
  await untilState(server, id, 'succeeded');
  for (const agent of fleet) agent.behaviour = agent.name === 'site-a-host-1' ? 'rollback_failed' : 'succeeded';
  const second = await startRollout(server, aSpec({ canary: { perClass: 0 } }, { name: 'again' }));
  const halted = await untilState(server, second, 'halted');
  expect(halted.because.because).toBe('rollback_failed');
  const { body: host } = await server.call('GET', `/hosts/${fleet[1]?.hostId}`);
  expect(host.status).toBe('quarantined');
  const resumed = await server.call('POST', `/rollouts/${second}/resume`, {
    reason: 'replaced by hand',
    dispositions: [{ slot: 'site-a-host-1', disposition: 'accept' }],
  });
  expect(resumed.status).toBe(200);
  // The quarantined host is out, so site-a has no budget left for its others.
  const slots = await until(
    () => slotsOf(server, second),
    (all) => all.some((slot: { waiting: { because: string } | null }) => slot.waiting?.because === 'budget'),
  );
  expect(slots.find((slot: { waiting: unknown }) => slot.waiting).waiting.detail).toMatch(/^blocked: 1 offline/);
  await server.call('POST', `/hosts/${fleet[1]?.hostId}/lift-quarantine`, { reason: 'checked' });
  expect((await untilState(server, second, 'completed_with_exceptions')).counters).toMatchObject({
    good: 5,
    leftOut: 1,
  });
});

test('after a pause nothing new begins; what runs finishes; resume goes on', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 } }));
  await untilSlots(server, id, 'granted', 1);
  expect((await server.call('POST', `/rollouts/${id}/pause`, { reason: 'lunch' })).body.state).toBe('paused');
  for (const agent of fleet) agent.settle('succeeded');
  await untilSlots(server, id, 'succeeded', 1);
  for (const agent of fleet) agent.behaviour = 'succeeded';
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(fleet.flatMap((agent) => agent.begun)).toHaveLength(1);
  const waiting = (await slotsOf(server, id)).find((slot: { state: string }) => slot.state === 'waiting');
  expect(waiting.waiting.detail).toBe('the rollout is paused: lunch');
  await server.call('POST', `/rollouts/${id}/resume`, { reason: 'back' });
  await untilState(server, id, 'succeeded');
  for (const agent of fleet) expect(agent.begun).toHaveLength(1);
});

test('a cancel ends waiting slots at once, asks the running one to stop and waits for it', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 } }));
  await untilSlots(server, id, 'granted', 1);
  const { body: canceling } = await server.call('POST', `/rollouts/${id}/cancel`, { reason: 'wrong hosts' });
  expect(canceling.state).toBe('canceling');
  await untilSlots(server, id, 'canceled', 5);
  await until(
    async () => fleet.flatMap((agent) => agent.cancels),
    (cancels) => cancels.length === 1,
  );
  for (const agent of fleet) agent.settle('canceled');
  expect((await untilState(server, id, 'canceled')).endedAtMs).not.toBeNull();
  await untilSlots(server, id, 'canceled', 6);
});

test('an emergency stop halts, stops what runs, and a resume runs it again', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 } }));
  await untilSlots(server, id, 'granted', 1);
  const stopped = await server.call('POST', '/stop', { reason: 'smoke in site-a' });
  expect(stopped.body).toEqual({ rolloutsHalted: 1, attemptsCanceled: 1 });
  await until(
    async () => fleet.flatMap((agent) => agent.cancels),
    (cancels) => cancels.length === 1,
  );
  for (const agent of fleet) agent.settle('canceled');
  await untilSlots(server, id, 'granted', 0);
  for (const agent of fleet) agent.behaviour = 'succeeded';
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(fleet.flatMap((agent) => agent.begun)).toHaveLength(1);
  expect((await server.call('POST', `/rollouts/${id}/resume`, { reason: 'all clear' })).status).toBe(200);
  expect((await untilState(server, id, 'succeeded')).counters.good).toBe(6);
  expect(fleet.flatMap((agent) => agent.begun)).toHaveLength(7);
});

test('a server that restarts in the middle goes on: no second effect, nothing lost', async () => {
  const first = await startTestServer();
  const fleet = await aFleet(first);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(first, aSpec({ canary: { perClass: 0 } }));
  await untilSlots(first, id, 'granted', 1);
  await first.stop({ keep: true });
  // The attempt ends while the server is away: the result waits in the outbox.
  for (const agent of fleet) agent.settle('succeeded');
  const second = await aServer({ folder: first.folder, config: { reconcileAfterMs: 3_000 } });
  for (const agent of fleet) agent.behaviour = 'succeeded';
  for (const agent of fleet) await agent.connect(second);
  expect((await untilState(second, id, 'succeeded')).counters.good).toBe(6);
  for (const agent of fleet) expect(agent.begun).toHaveLength(1);
});

test('the same claim twice gets the same grant', async () => {
  const server = await aServer();
  const fleet = await aFleet(server, 1);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 } }));
  await untilSlots(server, id, 'granted', 1);
  const agent = fleet.find((each) => each.begun.length > 0);
  const [again, third] = [await agent?.claimAgain(), await agent?.claimAgain()];
  expect(again?.type).toBe('grant');
  expect(third).toEqual(again);
  expect(agent?.begun).toHaveLength(1);
});

test('a host out of contact past its lease is unknown, which halts; its late result is kept and resumes nothing', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  for (const agent of fleet) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 }, contactGrace: '1s' }));
  await untilSlots(server, id, 'granted', 1);
  const lost = fleet.find((agent) => agent.begun.length > 0);
  if (!lost) throw new Error('no host began');
  lost.disconnect();
  const halted = await untilState(server, id, 'halted');
  expect(halted.because.because).toBe('too_many_failures');
  expect(halted.counters.unknown).toBe(1);
  const refused = await server.call('POST', `/rollouts/${id}/resume`, { reason: 'go on' });
  expect(refused.body.code).toBe('slots_need_disposition');
  lost.settle('succeeded');
  await lost.connect(server);
  await untilSlots(server, id, 'succeeded', 1);
  expect((await server.call('GET', `/rollouts/${id}`)).body.state).toBe('halted');
  expect(lost.acked).toEqual(lost.begun);
  for (const agent of fleet) agent.behaviour = 'succeeded';
  expect((await server.call('POST', `/rollouts/${id}/resume`, { reason: 'it is back' })).status).toBe(200);
  expect((await untilState(server, id, 'succeeded')).counters.good).toBe(6);
});

test('a host that declines waits with its reason and holds up nobody at another place of the budget', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  const declining = fleet[0];
  if (!declining) throw new Error('no fleet');
  declining.behaviour = 'decline';
  const id = await startRollout(server, aSpec({ canary: { perClass: 0 }, waves: [{ by: 'percent', size: 100 }] }));
  await untilSlots(server, id, 'succeeded', 5);
  const slot = (await slotsOf(server, id)).find((each: { hostId: string }) => each.hostId === declining.hostId);
  expect(slot.waiting).toMatchObject({ because: 'precheck', detail: 'docker_unreadable: no answer' });
  expect(declining.begun).toEqual([]);
});

test('hosts offline when their wave opens are deferred and join when they come back', async () => {
  const server = await aServer();
  const fleet = await aFleet(server);
  const away = fleet[5];
  away?.disconnect();
  await until(
    async () => server.deps.gateway.onlineCount(),
    (count) => count === 5,
  );
  const id = await startRollout(server, aSpec({ budget: { percent: 100, max: 5 } }));
  const completing = await untilState(server, id, 'completing');
  expect(completing.counters).toMatchObject({ good: 5, deferred: 1 });
  await away?.connect(server);
  expect((await untilState(server, id, 'succeeded')).counters.good).toBe(6);
});

test('a manual gate waits for a person', async () => {
  const server = await aServer();
  await aFleet(server, 1);
  const id = await startRollout(
    server,
    aSpec({ gate: 'manual', canary: { perClass: 0 }, waves: [{ by: 'percent', size: 100 }] }),
  );
  await untilSlots(server, id, 'succeeded', 2);
  const early = await until(
    async () => (await server.call('GET', `/rollouts/${id}/waves`)).body.items[0],
    (wave) => wave.state === 'awaiting_gate',
  );
  expect(early.endedAtMs).toBeNull();
  await server.call('POST', `/rollouts/${id}/pass-gate`, { reason: 'looks good' });
  await untilState(server, id, 'succeeded');
});
