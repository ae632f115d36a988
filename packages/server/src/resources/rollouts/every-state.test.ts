import { RolloutState } from '@gpufleet/shared/rollouts';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aSpec, until } from '../../loops/testing/a-rollout.ts';
import { aScriptedAgent, type ScriptedAgent } from '../../loops/testing/scripted-agent.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { rolloutTable, slotTable, waveTable } from './table.ts';

let server: TestServer;
const agents: ScriptedAgent[] = [];

beforeAll(async () => {
  // The loop stands still: each answer is that of the state that was put there.
  server = await startTestServer({ config: { tickEveryMs: 1_000_000 } });
  for (const name of ['host-1', 'host-2']) agents.push(await aScriptedAgent(server, name, 'site-a'));
  await until(
    async () => (await server.call('GET', '/hosts')).body.items,
    (hosts) => hosts.every((host: { class: { runtime: string | null } }) => host.class.runtime !== null),
  );
});
afterAll(async () => {
  for (const agent of agents) agent.disconnect();
  await server.stop();
});

const verbs = ['approve', 'start', 'pause', 'resume', 'cancel', 'pass-gate'] as const;
type Verb = (typeof verbs)[number];

/** From where each verb leads on. Everywhere else it is refused, and nothing changes. */
const taken: Readonly<Record<Verb, readonly RolloutState[]>> = {
  approve: ['planned', 'awaiting_approval'],
  start: ['approved', 'scheduled'],
  pause: ['running', 'waiting_window', 'completing'],
  resume: ['paused', 'halted'],
  cancel: [
    'draft',
    'planned',
    'awaiting_approval',
    'approved',
    'scheduled',
    'running',
    'paused',
    'waiting_window',
    'halted',
    'completing',
  ],
  'pass-gate': ['running', 'waiting_window', 'completing'],
};

const cases = RolloutState.options.flatMap((state) => verbs.map((verb) => [state, verb] as const));

test.each(cases)('a rollout that is %s answers %s', async (state, verb) => {
  const { body: made } = await server.call('POST', '/rollouts', aSpec({}, { name: 'every-state' }));
  await server.db.write(async (tx) => {
    await tx.update(rolloutTable).set({ state }).where(eq(rolloutTable.id, made.id));
    if (verb === 'pass-gate') {
      await tx.update(waveTable).set({ state: 'awaiting_gate' }).where(eq(waveTable.rolloutId, made.id));
      await tx.update(slotTable).set({ state: 'skipped' }).where(eq(slotTable.rolloutId, made.id));
    }
  });
  const body = verb === 'approve' ? { planHash: made.planHash } : verb === 'start' ? undefined : { reason: 'a test' };
  const { status, body: answer } = await server.call('POST', `/rollouts/${made.id}/${verb}`, body);
  const isTaken = taken[verb].includes(state);
  expect([status, answer.code]).toEqual(
    isTaken
      ? [200, undefined]
      : [409, verb === 'start' && /planned|awaiting/.test(state) ? 'not_approved' : 'bad_rollout_state'],
  );
  const shown = await server.call('GET', `/rollouts/${made.id}`);
  expect(shown.status).toBe(200);
  if (!isTaken) expect(shown.body.state).toBe(state);
  for (const list of ['plan', 'waves', 'slots'])
    expect((await server.call('GET', `/rollouts/${made.id}/${list}`)).status).toBe(200);
  // Out of the way of the next one.
  await server.db.write(async (tx) =>
    tx.update(rolloutTable).set({ state: 'canceled' }).where(eq(rolloutTable.id, made.id)),
  );
});

test('two operators at once: one approves, pauses, cancels, and the other is told so', async () => {
  const { body: made } = await server.call('POST', '/rollouts', aSpec({}, { name: 'two-operators' }));
  const twice = async (verb: string, body?: unknown) => {
    const answers = await Promise.all([1, 2].map(() => server.call('POST', `/rollouts/${made.id}/${verb}`, body)));
    return answers.map((answer) => answer.status).sort();
  };
  expect(await twice('approve', { planHash: made.planHash })).toEqual([200, 409]);
  expect(await twice('start')).toEqual([200, 409]);
  expect(await twice('pause', { reason: 'x' })).toEqual([200, 409]);
  expect(await twice('resume', { reason: 'x' })).toEqual([200, 409]);
  expect(await twice('cancel', { reason: 'x' })).toEqual([200, 409]);
});
