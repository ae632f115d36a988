import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import { aDiagnosisOf, anIdentity, aSection, connectTestAgent, enrollTestHost } from '../../testing/test-agent.ts';
import { setHostClass, unknownClass } from '../hosts/index.ts';

let server: TestServer;
const ids: Record<string, string> = {};
const a100 = {
  ...unknownClass,
  platform: 'x86',
  gpuModel: 'NVIDIA A100-SXM4-40GB',
  gpuCount: 2,
  driverVersion: '550.163.01',
  driverBranch: '550',
  runtime: 'docker',
  mig: 'enabled',
} as const;
const fleet = {
  alpha: ['site-a', { ...a100, clusterId: 'one' }],
  beta: ['site-b', { ...a100, clusterId: 'two' }],
  gamma: ['site-b', { ...a100, driverVersion: '550.54.14', mig: 'disabled' }],
  delta: ['site-b', unknownClass],
} as const;

beforeAll(async () => {
  server = await startTestServer();
  for (const [name, [siteId, hostClass]] of Object.entries(fleet)) {
    const identity = anIdentity(name);
    const { hostId } = await enrollTestHost(server, identity, { siteId, labels: { name } });
    ids[name] = hostId;
    if (name === 'alpha') {
      const agent = connectTestAgent(server, hostId, identity);
      await agent.greet();
      agent.send(aSection('os', { value: { hostname: 'alpha', kernel: '6.1' } }));
      await agent.next('section_ack');
      agent.send(aSection('os', { value: { hostname: 'alpha', kernel: '6.8' } }));
      agent.send(aDiagnosisOf('RUNTIME_MISSING'));
      for (let i = 0; i < 2; i++) await agent.next('section_ack');
      // The class that these few facts give comes some time after them, and is replaced here.
      await vi.waitFor(async () => expect(await changes()).not.toEqual([]), 10_000);
    }
    await server.db.write((tx) => setHostClass(tx, 1, hostId, hostClass));
  }
});
afterAll(() => server.stop());

const summary = async (query = '') => (await server.call('GET', `/fleet?${query}`)).body;
const changes = async (query = '') => (await server.call('GET', `/fleet/changes?${query}`)).body.items;
const hosts = async (query: string) =>
  (await server.call('GET', `/hosts?${query}`)).body.items.map((host: { name: string }) => host.name);

describe('200', () => {
  test('counts variants, whatever their cluster, the most frequent first', async () => {
    const { variants, moreVariants, hosts: counted } = await summary();
    expect(variants.map((each: { hosts: number; sites: number }) => [each.hosts, each.sites])).toEqual([
      [2, 2],
      [1, 1],
      [1, 1],
    ]);
    expect(variants[0].variant).toMatchObject({ gpuModel: a100.gpuModel, mig: 'enabled' });
    expect(variants[0].variant).not.toHaveProperty('clusterId');
    expect(moreVariants).toBe(0);
    expect(counted).toEqual({ total: 4, online: 1, byStatus: { accepted: 4 } });
  });

  test('counts single properties and what is wrong', async () => {
    const { traits, findings } = await summary();
    expect(traits.gpu).toEqual([{ value: a100.gpuModel, hosts: 3 }]);
    expect(traits.driver).toEqual([
      { value: '550.163.01', hosts: 2 },
      { value: '550.54.14', hosts: 1 },
    ]);
    expect(traits).not.toHaveProperty('l4t');
    expect(findings.bySeverity).toMatchObject({ critical: 1, warning: 0 });
    expect(findings.byCode).toEqual([{ code: 'RUNTIME_MISSING', severity: 'critical', hosts: 1 }]);
  });

  test.each([
    ['site=site-b', 3, 0],
    ['gpu=a100', 3, 1],
    ['mig=enabled', 2, 1],
    ['selector=name%3Dbeta', 1, 0],
  ])('is narrowed by %s, its findings too', async (query, total, critical) => {
    const { hosts: counted, findings } = await summary(query);
    expect([counted.total, findings.bySeverity.critical]).toEqual([total, critical]);
  });

  test.each([
    ['gpu=A100', ['alpha', 'beta', 'gamma']],
    ['gpu=h100', []],
    ['driver=550', ['alpha', 'beta', 'gamma']],
    ['driver=550.54.14', ['gamma']],
    ['driver=55', []],
    ['mig=disabled', ['gamma']],
    ['runtime=docker&site=site-b', ['beta', 'gamma']],
    ['runtime=k3s', []],
    ['platform=x86', ['alpha', 'beta', 'gamma']],
    ['severity=critical,blocker', ['alpha']],
    ['severity=warning', []],
  ])('hosts are listed by what they are: %s', async (query, names) => {
    expect(await hosts(query)).toEqual(names);
  });

  test('findings are listed by what their hosts are', async () => {
    const codes = async (query: string) =>
      (await server.call('GET', `/findings?${query}`)).body.items.map((each: { code: string }) => each.code);
    expect(await codes('gpu=a100&driver=550')).toEqual(['RUNTIME_MISSING']);
    expect(await codes('mig=disabled')).toEqual([]);
    expect(await codes('selector=name%3Dalpha')).toEqual(['RUNTIME_MISSING']);
  });

  test('tells what changed, whose it was, and what is different since then', async () => {
    const change = { name: 'os', path: 'value.kernel', before: '6.1', after: '6.8' };
    expect(await changes('fact=os')).toMatchObject([{ ...change, hostName: 'alpha', siteId: 'site-a' }]);
    expect(await changes('path=value.host')).toEqual([]);
    expect(await changes('site=site-b')).toEqual([]);
    expect(await changes('since=2999-01-01T00:00:00Z')).toEqual([]);
    const { body } = await server.call('GET', `/hosts/${ids.alpha}/differences?since=0`);
    expect(body).toMatchObject({ knownSinceMs: null, differences: [{ ...change, changes: 1 }] });
    const later = await server.call('GET', `/hosts/${ids.alpha}/differences?since=2999-01-01T00:00:00Z`);
    expect(later.body.differences).toEqual([]);
  });

  test('pages of changes follow each other without gap or double', async () => {
    const identity = anIdentity('epsilon');
    const { hostId } = await enrollTestHost(server, identity);
    const agent = connectTestAgent(server, hostId, identity);
    await agent.greet();
    const kernels = Array.from({ length: 7 }, (_, at) => `6.${at}`);
    agent.send(aSection('os', { value: Object.fromEntries(kernels.map((key) => [key, 1])) }));
    await agent.next('section_ack');
    agent.send(aSection('os', { value: Object.fromEntries(kernels.map((key) => [key, 2])) }));
    await agent.next('section_ack');
    const path = `/hosts/${hostId}/history?limit=3`;
    await expect.poll(async () => (await server.call('GET', path)).body.items.length).toBe(3);
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await server.call('GET', `${path}${cursor}`);
      seen.push(...body.items.map((item: { path: string }) => item.path));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(seen).toEqual(kernels.map((key) => `value.${key}`));
  });
});

describe('400', () => {
  test.each([
    ['/fleet?mig=maybe', 'query.mig'],
    ['/fleet/changes?since=tuesday', 'query.since'],
    ['/fleet?selector=a%20in%20b', 'query.selector'],
    ['/hosts?runtime=podman', 'query.runtime'],
  ])('%s names the field', async (path, field) => {
    const { status, body } = await server.call('GET', path);
    expect([status, body.errors[0].path]).toEqual([400, field]);
  });

  test('differences need a moment to compare with', async () => {
    expect((await server.call('GET', `/hosts/${ids.alpha}/differences`)).status).toBe(400);
  });
});

test('401: without a token', async () => {
  expect((await server.call('GET', '/fleet', undefined, { token: null })).status).toBe(401);
});

test('404: differences of a host that is not there', async () => {
  expect((await server.call('GET', '/hosts/nobody/differences?since=0')).body.code).toBe('host_not_found');
});
