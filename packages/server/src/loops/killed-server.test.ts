import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram, endProgram, type StartedProgram, startProgram } from '../testing/built-program.ts';
import { callApi, type ReachableServer } from '../testing/start-test-server.ts';
import { aSpec, slotsOf, startRollout, until } from './testing/a-rollout.ts';
import { aScriptedAgent, type ScriptedAgent } from './testing/scripted-agent.ts';

const kills = 5;
const hostsPerSite = 6;
const env = {
  GPUFLEET_HEARTBEAT_EVERY_MS: '1000',
  GPUFLEET_OFFLINE_AFTER_MS: '60000',
  GPUFLEET_TICK_EVERY_MS: '20',
  GPUFLEET_RECONCILE_AFTER_MS: '1500',
};
const folder = mkdtempSync(join(tmpdir(), 'gpufleet-killed-'));
const stateDir = join(folder, 'state');
let program: string;
let running: StartedProgram;
const agents: ScriptedAgent[] = [];

beforeAll(async () => {
  program = await buildProgram();
});
afterAll(async () => {
  for (const agent of agents) agent.disconnect();
  if (running) await endProgram(running.child, 'SIGKILL');
  rmSync(program, { force: true });
  rmSync(folder, { recursive: true, force: true });
});

function reach({ url }: StartedProgram): ReachableServer {
  const admin = readFileSync(join(stateDir, 'admin-token'), 'utf8').trim();
  return { url, call: (method, path, body, options = {}) => callApi(url, admin, method, path, body, options) };
}

async function connectAll(server: ReachableServer): Promise<void> {
  for (const agent of agents) agent.disconnect();
  await Promise.all(agents.map((agent) => agent.connect(server)));
}

test('a server that is killed again and again during a rollout loses no result and gives no work twice', async () => {
  running = await startProgram(program, stateDir, { env });
  let server = reach(running);
  const sites = ['site-a', 'site-b'];
  for (const site of sites)
    for (let n = 0; n < hostsPerSite; n += 1) agents.push(await aScriptedAgent(server, `${site}-host-${n}`, site));
  for (const agent of agents) agent.behaviour = 'hold';
  const id = await startRollout(server, aSpec({ budget: { percent: 50, max: 3 } }));
  // Work takes a moment, so that kills fall before, into and after it.
  let turn = 0;
  const working = setInterval(() => {
    turn += 1;
    for (const [n, agent] of agents.entries()) if ((turn + n) % 4 === 0) agent.settle('succeeded');
  }, 20);
  const acked = new Set<string>();
  for (let kill = 0; kill < kills; kill += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20 + ((kill * 97) % 250)));
    await endProgram(running.child, 'SIGKILL');
    for (const agent of agents) for (const attemptId of agent.acked) acked.add(attemptId);
    running = await startProgram(program, stateDir, { env });
    server = reach(running);
    // What was acknowledged is there, whatever happened since.
    for (const attemptId of acked)
      expect((await server.call('GET', `/attempts/${attemptId}`)).body).toMatchObject({ state: 'settled' });
    await connectAll(server);
  }
  const rollout = await until(
    async () => (await server.call('GET', `/rollouts/${id}`)).body,
    (seen) => seen.endedAtMs !== null,
    30_000,
  );
  clearInterval(working);
  expect(rollout).toMatchObject({ state: 'succeeded', counters: { good: 2 * hostsPerSite, bad: 0, unknown: 0 } });
  // The agents' own count of what they did: once each.
  expect(agents.map((agent) => agent.begun.length)).toEqual(agents.map(() => 1));
  const slots = await slotsOf(server, id);
  expect(slots.flatMap((slot: { attemptIds: string[] }) => slot.attemptIds).sort()).toEqual(
    agents.flatMap((agent) => agent.begun).sort(),
  );
}, 120_000);
