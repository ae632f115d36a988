import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { aDiagnosisOf, anIdentity, aSection, connectTestAgent, enrollTestHost } from '../../testing/test-agent.ts';
import { latestFacts } from './host-facts.ts';

let server: TestServer;
const ids: Record<string, string> = {};
beforeAll(async () => {
  server = await startTestServer();
  const fleet = [
    ['alpha', 'site-a', { gpu: 'a100', env: 'prod' }],
    ['beta', 'site-a', { gpu: 'h100' }],
    ['gamma', 'site-b', { gpu: 'a100', env: 'lab' }],
  ] as const;
  for (const [name, siteId, labels] of fleet) {
    const identity = anIdentity(name);
    const { hostId } = await enrollTestHost(server, identity, { siteId, labels });
    ids[name] = hostId;
    if (name !== 'alpha') continue;
    const agent = connectTestAgent(server, hostId, identity);
    await agent.greet();
    agent.send(aSection('os', { value: { hostname: 'alpha' } }));
    agent.send(aSection('os', { value: { hostname: 'alpha-2' } }));
    agent.send(aDiagnosisOf('RUNTIME_MISSING', 'DRIVER_MISMATCH'));
    for (let i = 0; i < 3; i++) await agent.next('section_ack');
  }
});
afterAll(() => server.stop());

const names = async (query: string) =>
  (await server.call('GET', `/hosts?${query}`)).body.items.map((host: { name: string }) => host.name);

describe('200', () => {
  test.each([
    ['', ['alpha', 'beta', 'gamma']],
    ['site=site-b', ['gamma']],
    ['site=site-a,site-b', ['alpha', 'beta', 'gamma']],
    ['selector=gpu%3Da100', ['alpha', 'gamma']],
    ['selector=env!%3Dlab', ['alpha', 'beta']],
    ['selector=!env', ['beta']],
    ['selector=gpu%20in%20(a100,h100),env', ['alpha', 'gamma']],
    ['online=true', ['alpha']],
    ['online=false', ['beta', 'gamma']],
    ['finding=RUNTIME_MISSING', ['alpha']],
    ['finding=NEVER_SEEN', []],
    ['name=am', ['gamma']],
    ['name=%25', []],
    ['name=a_p', []],
    ['status=quarantined', []],
  ])('lists by %s', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test('pages follow each other without gap or double, also when filtered by what is in memory', async () => {
    for (const filter of ['', '&online=false']) {
      const seen: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await server.call('GET', `/hosts?limit=1${filter}${cursor}`);
        seen.push(...body.items.map((host: { name: string }) => host.name));
        if (body.nextCursor === null) break;
        cursor = `&cursor=${body.nextCursor}`;
      }
      expect(seen).toEqual(filter === '' ? ['alpha', 'beta', 'gamma'] : ['beta', 'gamma']);
    }
  });

  test('shows a host with its labels and the count of its findings', async () => {
    const { body } = await server.call('GET', `/hosts/${ids.alpha}`);
    expect(body).toMatchObject({ name: 'alpha', online: true, labels: { gpu: 'a100', env: 'prod' } });
    expect(body.findings).toEqual({ blocker: 0, critical: 2, degraded: 0, warning: 0, info: 0 });
  });

  test('shows the last reported facts and what changed', async () => {
    const facts = await server.call('GET', `/hosts/${ids.alpha}/facts`);
    expect(facts.body.items.map((entry: { name: string }) => entry.name)).toEqual(['diagnosis', 'os']);
    expect(facts.body.items[1].body.value).toEqual({ hostname: 'alpha-2' });
    const history = async () => (await server.call('GET', `/hosts/${ids.alpha}/history`)).body.items;
    await expect
      .poll(history)
      .toMatchObject([{ name: 'os', path: 'value.hostname', before: 'alpha', after: 'alpha-2' }]);
  });

  test('shows the findings of a host', async () => {
    const { body } = await server.call('GET', `/hosts/${ids.alpha}/findings`);
    expect(body.items.map((finding: { code: string }) => finding.code).sort()).toEqual([
      'DRIVER_MISMATCH',
      'RUNTIME_MISSING',
    ]);
    expect((await server.call('GET', `/hosts/${ids.beta}/findings`)).body.items).toEqual([]);
  });

  test('labels are replaced, changed one by one, and removed', async () => {
    const path = `/hosts/${ids.beta}`;
    expect((await server.call('PATCH', path, { labels: { a: '1', b: '2' } })).body.labels).toEqual({ a: '1', b: '2' });
    const changed = await server.call('PATCH', path, { labelChanges: { a: null, c: '3' } });
    expect(changed.body.labels).toEqual({ b: '2', c: '3' });
  });

  test('a host moves to another site', async () => {
    const { body } = await server.call('PATCH', `/hosts/${ids.beta}`, { siteId: 'site-b' });
    expect(body.siteId).toBe('site-b');
    await server.call('PATCH', `/hosts/${ids.beta}`, { siteId: 'site-a' });
  });

  test('a decommissioned host leaves the list, its findings and its session end', async () => {
    const identity = anIdentity('leaving');
    const { hostId } = await enrollTestHost(server, identity);
    const agent = connectTestAgent(server, hostId, identity);
    await agent.greet();
    agent.send(aDiagnosisOf('RUNTIME_MISSING'));
    await agent.next('section_ack');
    const { status, body } = await server.call('POST', `/hosts/${hostId}/decommission`, { reason: 'sold' });
    expect([status, body.status, body.statusReason]).toEqual([200, 'decommissioned', 'sold']);
    expect(await agent.next('rejection')).toMatchObject({ code: 'revoked', retryAfterMs: null });
    await agent.closed;
    expect(await names('')).toEqual(['alpha', 'beta', 'gamma']);
    expect(await names('status=decommissioned')).toEqual(['leaving']);
    expect((await server.call('GET', `/hosts/${hostId}/findings`)).body.items).toEqual([]);
  });
});

describe('400', () => {
  test('a selector that is none says where', async () => {
    const { body } = await server.call('GET', '/hosts?selector=gpu%20in%20a100');
    expect(body).toMatchObject({ status: 400, code: 'bad_selector', errors: [{ path: 'query.selector' }] });
  });

  test('a label that is none is named', async () => {
    const { body } = await server.call('PATCH', `/hosts/${ids.beta}`, { labelChanges: { ok: 'not ok!' } });
    expect(body).toMatchObject({ status: 400, errors: [{ path: 'labels.ok' }] });
  });

  test('an action without a reason', async () => {
    const { body } = await server.call('POST', `/hosts/${ids.beta}/decommission`, {});
    expect(body).toMatchObject({ status: 400, errors: [{ path: 'reason' }] });
  });
});

test('403: a viewer changes nothing', async () => {
  const answer = await server.call('PATCH', `/hosts/${ids.beta}`, { labels: {} }, { token: server.tokens.viewer });
  expect(answer.status).toBe(403);
});

describe('404', () => {
  test.each(['', '/facts', '/findings', '/history'])('GET /hosts/nobody%s', async (rest) => {
    const { status, body } = await server.call('GET', `/hosts/nobody${rest}`);
    expect([status, body.code]).toEqual([404, 'host_not_found']);
  });

  test('a move to a site that is not there changes nothing', async () => {
    const { body } = await server.call('PATCH', `/hosts/${ids.beta}`, { siteId: 'nowhere', labels: { x: 'y' } });
    expect(body.code).toBe('site_not_found');
    expect((await server.call('GET', `/hosts/${ids.beta}`)).body.labels).not.toHaveProperty('x');
  });
});

test('409: an action that does not fit the host’s state', async () => {
  for (const action of ['accept', 'reject', 'lift-quarantine']) {
    const { status, body } = await server.call('POST', `/hosts/${ids.beta}/${action}`, { reason: 'x' });
    expect([action, status, body.code]).toEqual([action, 409, 'bad_host_state']);
  }
});

test('412: the labels were changed by somebody else', async () => {
  const { headers } = await server.call('GET', `/hosts/${ids.gamma}`);
  const etag = headers.get('etag') ?? '';
  await server.call('PATCH', `/hosts/${ids.gamma}`, { labelChanges: { x: '1' } });
  const late = await server.call(
    'PATCH',
    `/hosts/${ids.gamma}`,
    { labelChanges: { x: '2' } },
    { headers: { 'if-match': etag } },
  );
  expect([late.status, late.body.code]).toEqual([412, 'precondition_failed']);
});

test('facts that were not reported, or that this server cannot read, are unreadable and never absent', async () => {
  const facts = await latestFacts(server.db.read, ids.alpha ?? '');
  expect(facts.gpus).toMatchObject({ value: null, unreadable: { because: 'not_reported' } });
  expect(facts.os).toMatchObject({ value: null, unreadable: { because: 'other_version' } });
});
