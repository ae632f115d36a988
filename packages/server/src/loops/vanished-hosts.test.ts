import { afterEach, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../testing/start-test-server.ts';
import { aSpec, slotsOf, startDocker, startRollout, until, untilState } from './testing/a-rollout.ts';
import { aScriptedAgent } from './testing/scripted-agent.ts';

const running: TestServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function aServer(): Promise<TestServer> {
  const server = await startTestServer({ config: { reconcileAfterMs: 200 } });
  running.push(server);
  return server;
}

async function aFleet(server: TestServer, count: number) {
  const agents = [];
  for (let n = 1; n <= count; n += 1) agents.push(await aScriptedAgent(server, `host-${n}`, 'site-a'));
  return agents;
}

const oneWave = { canary: { perClass: 0 }, waves: [{ by: 'count', size: 10 }], contactGrace: '0s' };

test('a rollout that is cancelled ends although a host with a granted attempt was decommissioned', async () => {
  const server = await aServer();
  const [first] = await aFleet(server, 2);
  if (!first) throw new Error('no agent');
  for (const agent of [first]) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec(oneWave));
  await until(
    () => slotsOf(server, id),
    (slots) => slots.some((slot: { state: string }) => slot.state === 'granted'),
  );
  await server.call('POST', `/hosts/${first.hostId}/decommission`, { reason: 'burnt' });
  await server.call('POST', `/rollouts/${id}/cancel`, { reason: 'enough' });
  await untilState(server, id, 'canceled');
});

test('a decommissioned host takes no place of its site’s budget, whatever it was granted', async () => {
  const server = await aServer();
  const agents = await aFleet(server, 3);
  const [first] = agents;
  if (!first) throw new Error('no agent');
  first.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ ...oneWave, budget: { percent: 1, max: 1 } }));
  await until(
    () => slotsOf(server, id),
    (slots) => slots.some((slot: { state: string }) => slot.state === 'granted'),
  );
  await server.call('POST', `/hosts/${first.hostId}/decommission`, { reason: 'burnt' });
  await untilState(server, id, 'halted');
  await server.call('POST', `/rollouts/${id}/resume`, { reason: 'go on without it', disposition: 'accept' });
  const rollout = await untilState(server, id, 'completed_with_exceptions');
  expect(rollout.counters).toMatchObject({ good: 2, leftOut: 1 });
});

test('a job of a host that is decommissioned while it runs ends as failed and says why; one that waits is canceled', async () => {
  const server = await aServer();
  const [agent] = await aFleet(server, 1);
  if (!agent) throw new Error('no agent');
  agent.behaviour = 'hold';
  const ask = async () => (await server.call('POST', '/jobs', { hostId: agent.hostId, ...startDocker })).body.id;
  const [running, waiting] = [await ask(), await ask()];
  const jobOf = async (id: string) => (await server.call('GET', `/jobs/${id}`)).body;
  await until(
    () => jobOf(running),
    (job) => job.state === 'running',
  );
  await server.call('POST', `/hosts/${agent.hostId}/decommission`, { reason: 'burnt' });
  const ended = await until(
    () => jobOf(running),
    (job) => job.settledAtMs !== null,
  );
  expect(ended.state).toBe('failed');
  expect((await jobOf(waiting)).state).toBe('canceled');
  const { body: attempt } = await server.call('GET', `/attempts/${running}-1`);
  expect(attempt.result.because).toMatchObject([{ because: 'host_decommissioned' }]);
  const { body: audit } = await server.call('GET', `/audit?target=job:${running}`);
  expect(audit.items[0]).toMatchObject({ actor: 'system:jobs', after: { reason: 'host_decommissioned' } });
});
