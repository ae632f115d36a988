import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldHistory } from './housekeeping.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { startTestServer, type TestServer } from './testing/start-test-server.ts';
import { aDiagnosisOf, anIdentity, aSection, connectTestAgent, enrollTestHost } from './testing/test-agent.ts';

const dayMs = 86_400_000;
const keep = {
  eventsMax: 700,
  factChangesPerHost: 3,
  auditMs: 10 * dayMs,
  clearedFindingsMs: dayMs,
  settledJobsMs: dayMs,
};

let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = new ManualClock();
  server = await startTestServer({ clock, config: { keep } });
});
afterAll(() => server.stop());

const count = async (table: string) =>
  (await server.db.read.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)).n;

test('only the newest events are kept, over many deletes', async () => {
  await server.db.write(async (tx) => {
    for (let i = 0; i < 2_000; i++) await tx.run(`INSERT INTO events (at_ms, type, data) VALUES (${i}, 'x', '{}')`);
  });
  const deleted = await deleteOldHistory(server.db, keep, clock.nowMs());
  expect([deleted.events, await count('events')]).toEqual([1_300, 700]);
  const { oldest } = await server.db.read.get<{ oldest: number }>('SELECT min(at_ms) AS oldest FROM events');
  expect(oldest).toBe(1_300);
  expect((await deleteOldHistory(server.db, keep, clock.nowMs())).events).toBe(0);
});

test('cleared findings go after their time; open ones stay however old', async () => {
  const identity = anIdentity();
  const { hostId } = await enrollTestHost(server, identity);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  for (const section of [aDiagnosisOf('GOES', 'STAYS'), aDiagnosisOf('STAYS')]) {
    agent.send(section);
    await agent.next('section_ack');
  }
  expect((await deleteOldHistory(server.db, keep, clock.nowMs() + dayMs)).findings).toBe(0);
  expect((await deleteOldHistory(server.db, keep, clock.nowMs() + dayMs + 1)).findings).toBe(1);
  const { body } = await server.call('GET', '/findings?state=all');
  expect(body.items.map((finding: { code: string }) => finding.code)).toEqual(['STAYS']);
});

test('a host keeps its newest changes of facts', async () => {
  const identity = anIdentity('changing');
  const { hostId } = await enrollTestHost(server, identity);
  const agent = connectTestAgent(server, hostId, identity);
  await agent.greet();
  const history = async () =>
    (await server.call('GET', `/hosts/${hostId}/history`)).body.items.map((change: { after: number }) => change.after);
  for (let i = 0; i < 8; i++) {
    agent.send(aSection('os', { value: { count: i } }));
    await agent.next('section_ack');
    clock.advance(2_000);
    if (i > 0) await expect.poll(async () => (await history())[0]).toBe(i);
  }
  expect(await history()).toEqual([7, 6, 5]);
});

test('idempotency keys are kept for a day, the audit for its own time', async () => {
  await server.call('POST', '/sites', { id: 'site-k' }, { headers: { 'idempotency-key': 'k' } });
  expect((await deleteOldHistory(server.db, keep, clock.nowMs() + dayMs)).idempotencyKeys).toBe(0);
  const later = await deleteOldHistory(server.db, keep, clock.nowMs() + dayMs + 1);
  expect([later.idempotencyKeys, later.audit]).toEqual([1, 0]);
  const muchLater = await deleteOldHistory(server.db, keep, clock.nowMs() + 10 * dayMs + 1);
  expect(muchLater.audit).toBeGreaterThan(0);
  expect(await count('audit')).toBe(0);
});

test('it runs by itself', async () => {
  await server.db.write(async (tx) => {
    for (let i = 0; i < 1_000; i++) await tx.run(`INSERT INTO events (at_ms, type, data) VALUES (${i}, 'y', '{}')`);
  });
  clock.advance(600_000);
  await expect.poll(() => count('events'), { timeout: 5_000 }).toBeLessThanOrEqual(710);
});
