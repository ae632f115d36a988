import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDocker, until } from '../../loops/testing/a-rollout.ts';
import { aScriptedAgent, type ScriptedAgent } from '../../loops/testing/scripted-agent.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';

let server: TestServer;
let agent: ScriptedAgent;

beforeAll(async () => {
  server = await startTestServer();
  agent = await aScriptedAgent(server, 'host-1', 'site-a');
});
afterAll(async () => {
  agent.disconnect();
  await server.stop();
});

const ask = (change: object = {}, query = '') =>
  server.call('POST', `/jobs${query}`, { hostId: agent.hostId, ...startDocker, ...change });
const jobOf = async (id: string) => (await server.call('GET', `/jobs/${id}`)).body;
const settled = (id: string) =>
  until(
    () => jobOf(id),
    (job) => job.settledAtMs !== null,
  );

test('a job of one host is offered, claimed, granted and settled', async () => {
  agent.behaviour = 'succeeded';
  const { status, body } = await ask();
  expect(status).toBe(201);
  expect(body).toMatchObject({ state: 'queued', rolloutId: null, createdBy: 'token:test-admin', request: startDocker });
  const done = await settled(body.id);
  expect(done).toMatchObject({ state: 'succeeded', attempts: [`${body.id}-1`] });
  const { body: attempt } = await server.call('GET', `/attempts/${body.id}-1`);
  expect(attempt).toMatchObject({ state: 'settled', jobId: body.id, planSummary: ['start_unit docker.service'] });
  expect(attempt).not.toHaveProperty('signedGrant');
});

test('a dry run shows what the host is expected to do and keeps nothing', async () => {
  const before = (await server.call('GET', '/jobs')).body.items.length;
  const { status, body } = await ask({}, '?dryRun=true');
  expect(status).toBe(200);
  expect(body).toMatchObject({ outcome: 'plan', steps: ['start_unit docker.service'], factsReadAtMs: 1 });
  expect((await server.call('GET', '/jobs')).body.items).toHaveLength(before);
});

test('two jobs of one host run one after the other', async () => {
  agent.behaviour = 'hold';
  const begun = agent.begun.length;
  const [first, second] = [(await ask()).body.id, (await ask()).body.id];
  await until(
    () => jobOf(first),
    (job) => job.state === 'running',
  );
  const waiting = await jobOf(second);
  expect(waiting.waiting).toMatchObject({
    because: 'lock',
    detail: expect.stringContaining(`attempt ${first}-1 runs on the host`),
  });
  agent.behaviour = 'succeeded';
  agent.settle('failed');
  expect((await settled(first)).state).toBe('failed');
  expect((await settled(second)).state).toBe('succeeded');
  expect(agent.begun.slice(begun)).toEqual([`${first}-1`, `${second}-1`]);
});

test('a job for a host that is away waits and says so, and can be canceled', async () => {
  agent.disconnect();
  await until(
    async () => server.deps.gateway.onlineCount(),
    (count) => count === 0,
  );
  const { id } = (await ask()).body;
  expect((await jobOf(id)).waiting).toMatchObject({ because: 'offline' });
  expect((await server.call('POST', `/jobs/${id}/cancel`, { reason: 'never mind' })).body.state).toBe('canceled');
  expect((await server.call('POST', `/jobs/${id}/cancel`, { reason: 'again' })).body.code).toBe('bad_job_state');
  await agent.connect(server);
});

test('a running job is asked to stop, and an emergency stop ends waiting ones for good', async () => {
  agent.behaviour = 'hold';
  const [first, second] = [(await ask()).body.id, (await ask()).body.id];
  await until(
    () => jobOf(first),
    (job) => job.state === 'running',
  );
  expect((await server.call('POST', '/stop', { reason: 'smoke' })).body).toEqual({
    rolloutsHalted: 0,
    attemptsCanceled: 1,
  });
  await until(
    async () => agent.cancels,
    (cancels) => cancels.includes(`${first}-1`),
  );
  agent.settle('canceled');
  expect((await settled(first)).state).toBe('canceled');
  expect((await jobOf(second)).state).toBe('canceled');
});

test('a host that declines is asked again, in the same attempt', async () => {
  agent.behaviour = 'decline';
  const { id } = (await ask()).body;
  const declined = await until(
    () => jobOf(id),
    (job) => job.waiting?.because === 'precheck' && job.waiting.detail.includes('no answer'),
  );
  expect(declined.attempts).toEqual([`${id}-1`]);
  expect((await server.call('GET', `/attempts/${id}-1`)).body).toMatchObject({
    state: 'declined',
    declinedBecause: [{ because: 'docker_unreadable' }],
  });
  await server.call('POST', `/jobs/${id}/cancel`, { reason: 'x' });
});

test('lists filter by host and state and go on from their cursor', async () => {
  const { body: page } = await server.call('GET', `/hosts/${agent.hostId}/jobs?limit=2`);
  expect(page.items).toHaveLength(2);
  const { body: next } = await server.call('GET', `/hosts/${agent.hostId}/jobs?limit=2&cursor=${page.nextCursor}`);
  expect(next.items.map((job: { id: string }) => job.id)).not.toContain(page.items[0].id);
  const { body: failed } = await server.call('GET', '/jobs?state=failed');
  expect(failed.items.map((job: { state: string }) => job.state)).toEqual(['failed']);
});

test.each([
  [{ hostId: 'nope' }, 404, 'host_not_found'],
  [{ params: { unit: 'docker', force: true } }, 400, 'unsupported_params'],
  [{ kind: 'smoke_test', params: {} }, 409, 'not_available_yet'],
  [{ kind: 'rm_rf', params: {} }, 400, 'bad_request'],
  [{ surprise: 1 }, 400, 'bad_request'],
])('a job that cannot be is refused: %j', async (change, status, code) => {
  const answer = await ask(change);
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
});

test('a job or attempt that is not there is a 404', async () => {
  expect((await server.call('GET', '/jobs/nope')).body.code).toBe('job_not_found');
  expect((await server.call('GET', '/attempts/nope')).body.code).toBe('attempt_not_found');
});

test('a host that is not accepted takes no job', async () => {
  await server.call('POST', `/hosts/${agent.hostId}/decommission`, { reason: 'sold' });
  expect((await ask()).body.code).toBe('host_not_ready');
});
