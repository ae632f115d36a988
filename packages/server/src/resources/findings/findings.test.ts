import { isNull } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../testing/start-test-server.ts';
import {
  aDiagnosisOf,
  anIdentity,
  connectTestAgent,
  enrollTestHost,
  type TestAgent,
} from '../../testing/test-agent.ts';
import { findingTable } from './table.ts';

let server: TestServer;
let agent: TestAgent;
let hostId: string;
beforeAll(async () => {
  server = await startTestServer();
  const identity = anIdentity();
  hostId = (await enrollTestHost(server, identity)).hostId;
  agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
});
afterAll(() => server.stop());

async function report(...codes: string[]) {
  agent.send(aDiagnosisOf(...codes));
  await agent.next('section_ack');
}
const list = async (query = '') => (await server.call('GET', `/findings?${query}`)).body.items;

describe('200', () => {
  test('a finding opens, clears, and comes back as the same one', async () => {
    await report('RUNTIME_MISSING');
    const [opened] = await list();
    expect(opened).toMatchObject({
      code: 'RUNTIME_MISSING',
      hostName: 'host-1',
      siteId: 'site-a',
      clearedAtMs: null,
      openedCount: 1,
    });
    await report();
    expect(await list()).toEqual([]);
    const [cleared] = await list('state=cleared');
    expect(cleared.id).toBe(opened.id);
    expect(cleared.clearedAtMs).toBeGreaterThan(0);
    await report('RUNTIME_MISSING');
    const [reopened] = await list();
    expect(reopened).toMatchObject({ id: opened.id, clearedAtMs: null, openedCount: 2 });
    expect(reopened.openedAtMs).toBeGreaterThanOrEqual(cleared.clearedAtMs);
    expect(reopened.firstSeenAtMs).toBe(opened.firstSeenAtMs);
    const { body } = await server.call('GET', `/findings/${opened.id}`);
    expect(body.turns.map(({ turn }: { turn: string }) => turn)).toEqual(['opened', 'cleared', 'reopened']);
  });

  test('filters by code, severity, layer, site and host', async () => {
    await report('RUNTIME_MISSING', 'DRIVER_MISMATCH');
    expect(await list('code=DRIVER_MISMATCH')).toHaveLength(1);
    expect(await list('severity=critical,warning')).toHaveLength(2);
    expect(await list('severity=warning')).toEqual([]);
    expect(await list('layer=engine')).toHaveLength(2);
    expect(await list('site=site-a')).toHaveLength(2);
    expect(await list(`host=${hostId}`)).toHaveLength(2);
    expect(await list('host=nobody')).toEqual([]);
  });
});

test('a host that reports ever new findings keeps a thousand, the open ones among them, and none of a monstrous length', async () => {
  const own = await startTestServer();
  const identity = anIdentity('host-2');
  const enrolled = await enrollTestHost(own, identity);
  const stolen = connectTestAgent(own, enrolled.hostId, identity);
  await stolen.greet();
  const codes = (turn: number, count: number) => Array.from({ length: count }, (_, n) => `T${turn}_N${n}`);
  for (const turn of [1, 2, 3]) {
    stolen.send(aDiagnosisOf(...codes(turn, 600)));
    await stolen.next('section_ack');
  }
  const [last] = codes(3, 1);
  expect(await own.db.read.$count(findingTable)).toBe(1_000);
  expect(await own.db.read.$count(findingTable, isNull(findingTable.clearedAtMs))).toBe(500);
  expect((await own.call('GET', `/findings?code=${last}`)).body.items).toHaveLength(1);
  stolen.send(aDiagnosisOf('X'.repeat(40_000)));
  await stolen.next('section_ack');
  expect((await own.call('GET', '/findings')).body.items).toEqual([]);
  stolen.close();
  await own.stop();
}, 20_000);

test('400: a severity that there is not', async () => {
  const { status, body } = await server.call('GET', '/findings?severity=awful');
  expect([status, body.errors[0].path]).toEqual([400, 'query.severity.0']);
});

test('404: a finding that is not there', async () => {
  expect((await server.call('GET', '/findings/finding_none')).body.code).toBe('finding_not_found');
});

test('401: without a token', async () => {
  expect((await server.call('GET', '/findings', undefined, { token: null })).status).toBe(401);
});

test('what opens and clears is told to listeners', async () => {
  const rows = await server.db.read.all<{ type: string; data: string }>(
    "SELECT type, data FROM events WHERE type LIKE 'finding.%' ORDER BY id",
  );
  expect(rows.map((row) => [row.type, JSON.parse(row.data).code])).toEqual([
    ['finding.opened', 'RUNTIME_MISSING'],
    ['finding.cleared', 'RUNTIME_MISSING'],
    ['finding.opened', 'RUNTIME_MISSING'],
    ['finding.opened', 'DRIVER_MISMATCH'],
  ]);
});

// After the test of what listeners were told: it lists every turn until then.
test('a finding that goes on with another severity tells when it changed', async () => {
  agent.send(aDiagnosisOf('SOFTENS'));
  await agent.next('section_ack');
  const diagnosis = aDiagnosisOf('SOFTENS');
  const [finding] = (diagnosis.body as { findings: Record<string, unknown>[] }).findings;
  agent.send({
    ...diagnosis,
    hash: 'softer',
    body: { findings: [{ ...finding, severity: 'warning' }], cannotTell: [] },
  });
  await agent.next('section_ack');
  const [softer] = await list('code=SOFTENS');
  const { body } = await server.call('GET', `/findings/${softer.id}`);
  expect(body).toMatchObject({ severity: 'warning', openedCount: 1 });
  expect(body.turns).toMatchObject([
    { turn: 'opened', severity: 'critical' },
    { turn: 'severity', severity: 'warning' },
  ]);
});
