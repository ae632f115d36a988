import { afterAll, beforeAll, expect, test } from 'vitest';
import { aSpec, startDocker, until } from '../../loops/testing/a-rollout.ts';
import { aScriptedAgent, type ScriptedAgent } from '../../loops/testing/scripted-agent.ts';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';

let server: TestServer;
const agents: ScriptedAgent[] = [];

beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['host-1', 'host-2', 'host-3']) agents.push(await aScriptedAgent(server, name, 'site-a'));
  for (const agent of agents) agent.behaviour = 'silent';
  // The canary is chosen by class, which follows the first report.
  await until(
    async () => (await server.call('GET', '/hosts')).body.items,
    (hosts) => hosts.every((host: { class: { runtime: string | null } }) => host.class.runtime !== null),
  );
});
afterAll(async () => {
  for (const agent of agents) agent.disconnect();
  await server.stop();
});

const post = (path: string, body?: unknown, options?: Parameters<TestServer['call']>[3]) =>
  server.call('POST', path, body, options);

// 200
test('a dry run shows waves, previews, who is left out and the budget, and keeps nothing', async () => {
  const { status, body } = await post('/rollouts?dryRun=true', aSpec({}, { target: { exclude: ['host-3'] } }));
  expect(status).toBe(200);
  expect(body.waves.map((wave: { name: string }) => wave.name)).toEqual(['canary', 'site-a']);
  expect(body.waves[0].slots[0]).toMatchObject({
    hostName: 'host-1',
    requests: [startDocker],
    preview: { outcome: 'plan', steps: ['start_unit docker.service'] },
  });
  expect(body.leftOut).toEqual([
    { hostId: agents[2]?.hostId, hostName: 'host-3', because: 'excluded', detail: 'the rollout excludes it' },
  ]);
  expect(body.budgets).toEqual([{ siteId: 'site-a', hosts: 3, budget: 1, unavailable: 0 }]);
  expect((await server.call('GET', '/rollouts')).body.items).toEqual([]);
});

test('a dry run without any host says why', async () => {
  const { body } = await post(
    '/rollouts?dryRun=true',
    aSpec({}, { jobs: [{ kind: 'restart_service', params: { unit: 'containerd' } }] }),
  );
  expect(body.waves).toEqual([]);
  expect(body.leftOut.map((each: { because: string }) => each.because)).toEqual(['blocked', 'blocked', 'blocked']);
});

// 201
test('a rollout is planned when it is made, and waits for approval', async () => {
  const { status, body } = await post('/rollouts', aSpec());
  expect(status).toBe(201);
  expect(body).toMatchObject({
    state: 'planned',
    waves: 2,
    createdBy: 'token:test-admin',
    counters: { counted: 3, waiting: 3 },
  });
  const { body: plan } = await server.call('GET', `/rollouts/${body.id}/plan`);
  expect(plan.planHash).toBe(body.planHash);
  const { body: slots } = await server.call('GET', `/rollouts/${body.id}/slots?limit=2`);
  expect(slots.items[0].waiting).toMatchObject({ because: 'rollout', clearedBy: 'approval of the plan' });
  const { body: rest } = await server.call('GET', `/rollouts/${body.id}/slots?cursor=${slots.nextCursor}`);
  expect([...slots.items, ...rest.items].map((slot: { hostName: string }) => slot.hostName)).toEqual([
    'host-1',
    'host-2',
    'host-3',
  ]);
});

test('the same Idempotency-Key makes one rollout', async () => {
  const headers = { 'idempotency-key': 'once-1' };
  const spec = aSpec({}, { name: 'once' });
  const [first, second] = [await post('/rollouts', spec, { headers }), await post('/rollouts', spec, { headers })];
  expect(second.body.id).toBe(first.body.id);
});

test('a newer rollout of the same name takes the place of one that was not started', async () => {
  const older = (await post('/rollouts', aSpec({}, { name: 'twice' }))).body;
  const newer = (await post('/rollouts', aSpec({}, { name: 'twice' }))).body;
  expect((await server.call('GET', `/rollouts/${older.id}`)).body).toMatchObject({ state: 'superseded' });
  expect(newer.state).toBe('planned');
});

// 400
test.each([
  [aSpec({}, { target: { selector: 'gpu in (a' } }), 'bad_selector'],
  [aSpec({ window: { zone: 'Mars/Base', from: '01:00', to: '02:00' } }), 'bad_timezone'],
  [aSpec({}, { jobs: [{ kind: 'restart_service', params: { unit: 'docker', force: true } }] }), 'unsupported_params'],
  [{ ...aSpec(), surprise: 1 }, 'bad_request'],
  [{ ...aSpec(), remedyOf: 'A' }, 'bad_request'],
])('a spec that cannot be is refused: %#', async (spec, code) => {
  const { status, body } = await post('/rollouts', spec);
  expect({ status, code: body.code }).toEqual({ status: 400, code });
});

// 403
test('a viewer looks and does not touch', async () => {
  const token = server.tokens.viewer;
  expect((await server.call('GET', '/rollouts', undefined, { token })).status).toBe(200);
  expect((await post('/rollouts', aSpec(), { token })).status).toBe(403);
  expect((await post('/stop', { reason: 'x' }, { token })).status).toBe(403);
});

// 404
test('a rollout or site that is not there is a 404 with its own code', async () => {
  for (const path of ['', '/plan', '/waves', '/slots'])
    expect((await server.call('GET', `/rollouts/nope${path}`)).body.code).toBe('rollout_not_found');
  for (const verb of ['pause', 'resume', 'cancel', 'pass-gate'])
    expect((await post(`/rollouts/nope/${verb}`, { reason: 'x' })).body.code).toBe('rollout_not_found');
  expect((await post('/rollouts', aSpec({}, { target: { sites: ['site-z'] } }))).body.code).toBe('site_not_found');
});

// 409
test('a rollout for nobody is not made', async () => {
  const { status, body } = await post('/rollouts', aSpec({}, { target: { selector: 'gpu=none' } }));
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'empty_plan' });
});

test('nothing starts without the approval of exactly this plan', async () => {
  const { id, planHash } = (await post('/rollouts', aSpec({}, { name: 'approvals' }))).body;
  expect((await post(`/rollouts/${id}/start`)).body.code).toBe('not_approved');
  expect((await post(`/rollouts/${id}/approve`, { planHash: 'other' })).body.code).toBe('plan_stale');
  expect((await post(`/rollouts/${id}/pause`, { reason: 'x' })).body.code).toBe('bad_rollout_state');
  expect((await post(`/rollouts/${id}/approve`, { planHash })).body.state).toBe('approved');
  expect((await post(`/rollouts/${id}/approve`, { planHash })).body.code).toBe('bad_rollout_state');
  expect((await post(`/rollouts/${id}/cancel`, { reason: 'not today' })).body.state).toBe('canceled');
});

test('a plan whose hosts have moved is stale', async () => {
  const { id, planHash } = (await post('/rollouts', aSpec({}, { name: 'moved' }))).body;
  const extra = await aScriptedAgent(server, 'host-4', 'site-a');
  agents.push(extra);
  const refused = await post(`/rollouts/${id}/approve`, { planHash });
  expect(refused.body).toMatchObject({
    code: 'plan_stale',
    detail: expect.stringContaining('host host-4 would take part as well'),
  });
  expect((await server.call('GET', `/rollouts/${id}`)).body.state).toBe('stale');
});

// 412
test('an action on an older version than the stored one is refused', async () => {
  const { id, version } = (await post('/rollouts', aSpec({}, { name: 'versions' }))).body;
  const refused = await post(
    `/rollouts/${id}/cancel`,
    { reason: 'x' },
    { headers: { 'if-match': `"${version + 1}"` } },
  );
  expect(refused.status).toBe(412);
  const done = await post(`/rollouts/${id}/cancel`, { reason: 'x' }, { headers: { 'if-match': `"${version}"` } });
  expect(done.status).toBe(200);
});

test('a frozen site is named as the reason, and the slot goes on when the freeze is lifted', async () => {
  const freezes = [{ from: '2020-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z', reason: 'inventory' }];
  await server.call('PATCH', '/sites/site-a', { freezes });
  const { id, planHash } = (await post('/rollouts', aSpec({}, { name: 'frozen' }))).body;
  await post(`/rollouts/${id}/approve`, { planHash });
  await post(`/rollouts/${id}/start`);
  const slots = async () => (await server.call('GET', `/rollouts/${id}/slots`)).body.items;
  const held = await until(slots, (items) => items[0].state === 'waiting');
  expect(held[0].waiting).toMatchObject({
    because: 'freeze',
    detail: 'site site-a is frozen: inventory',
    clearedBy: 'the freeze ends',
  });
  await server.call('PATCH', '/sites/site-a', { freezes: [] });
  await until(slots, (items) => items[0].waiting?.because === 'precheck', 20_000);
  expect((await post(`/rollouts/${id}/cancel`, { reason: 'done' })).body.state).toBe('canceled');
}, 25_000);
