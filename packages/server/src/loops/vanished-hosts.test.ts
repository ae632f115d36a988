import { afterEach, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../testing/start-test-server.ts';
import { aSpec, slotsOf, startRollout, until, untilState } from './testing/a-rollout.ts';
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
