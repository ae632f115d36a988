import { toCanonicalJson } from '@gpufleet/shared/core';
import type { AgentMessage, AttemptResult, Grant, GrantMessage, Offer } from '@gpufleet/shared/protocol';
import { grantSigningPrefix } from '@gpufleet/shared/protocol';
import { expect, test } from 'vitest';
import { createMemoryStateDir } from '../host/state-dir/index.ts';
import type { Identity } from '../identity/identity.ts';
import { createKey, openPrivateKey, signText } from '../identity/key.ts';
import { openSeenGrants } from '../identity/seen-grants.ts';
import type { AttemptSummary, Begun, JobEngine, Precheck } from '../jobs/engine.ts';
import { createAttemptDesk } from './attempt-desk.ts';

const serverKey = createKey();
const identity: Identity = {
  format: 1,
  key: createKey(),
  serverUrl: 'https://fleet.example.com',
  hostId: 'host_1',
  siteId: 'site_1',
  name: 'host-1',
  signingKeys: [{ keyId: 'k1', publicKey: serverKey.x }],
  machineFingerprint: 'f',
  fingerprintParts: {},
};
const request = { kind: 'restart_service' as const, params: { unit: 'docker.service', action: 'restart' } };
const offer: Offer = { type: 'offer', attemptId: 'attempt_1', jobId: 'job_1', request, planHash: null };
const claimable: Precheck = {
  ok: true,
  plan: { outcome: 'plan', planHash: 'p1', disruption: 'restarts_containers', worstCaseMs: 1, summary: [] },
};
const result: AttemptResult = {
  attemptId: 'attempt_1',
  outcome: 'succeeded',
  because: [],
  planHash: 'p1',
  diffs: [],
  steps: [],
  startedAtMs: 1,
  settledAtMs: 2,
};

function aGrant(fields: Partial<Grant> = {}): GrantMessage {
  const grant: Grant = {
    version: 1,
    hostId: 'host_1',
    attemptId: 'attempt_1',
    jobId: 'job_1',
    request,
    planHash: 'p1',
    serverEpoch: 4,
    sessionEpoch: 9,
    notBeforeMs: 0,
    expiresAtMs: 10_000,
    deadlineMs: 60_000,
    nonce: 'nonce_1',
    ...fields,
  };
  const payload = Buffer.from(toCanonicalJson(grant)).toString('base64url');
  const signature = signText(openPrivateKey(serverKey), grantSigningPrefix + payload);
  return { type: 'grant', attemptId: grant.attemptId, signed: { keyId: 'k1', payload, signature } };
}

class FakeEngine {
  readonly begun: string[] = [];
  readonly canceled: string[] = [];
  owed: AttemptResult[] = [];
  known: string[] = [];
  verdict: Precheck = claimable;
  answer: Begun = { ok: true, begun: 'now' };
  beforeVerdict: () => void = () => undefined;
  precheck = async (): Promise<Precheck> => {
    this.beforeVerdict();
    return this.verdict;
  };
  begin = async (grant: Grant): Promise<Begun> => {
    this.begun.push(grant.attemptId);
    if (!this.known.includes(grant.attemptId)) return this.answer;
    this.owed = [result];
    return { ok: true, begun: 'already' };
  };
  cancel = async (attemptId: string) => void this.canceled.push(attemptId);
  owedResults = async () => this.owed;
  acknowledge = async (attemptId: string) => {
    this.owed = this.owed.filter((owed) => owed.attemptId !== attemptId);
  };
  history = async () => this.known.map((attemptId) => ({ attemptId })) as AttemptSummary[];
}

async function aDesk(state = createMemoryStateDir()) {
  const sent: AgentMessage[] = [];
  const engine = new FakeEngine();
  const timers: (() => unknown)[] = [];
  const desk = createAttemptDesk({
    // The desk uses these verbs of the engine only.
    engine: engine as unknown as JobEngine,
    seen: await openSeenGrants(state),
    clock: {
      nowMs: () => 0,
      monotonicMs: () => 0,
      after: () => () => undefined,
      every: (_periodMs, action) => {
        timers.push(action);
        return () => undefined;
      },
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    resendEveryMs: 30_000,
    send: (message) => {
      sent.push(message);
      return true;
    },
    serverNowMs: () => 5_000,
  });
  const begin = () => desk.begin({ identity, sessionEpoch: 9, serverEpoch: 4 });
  begin();
  return { desk, engine, sent, begin, tick: async () => void (await timers[0]?.()) };
}

test('does nothing on an offer but claim it', async () => {
  const { desk, engine, sent } = await aDesk();
  await desk.offer(offer);
  expect(sent).toEqual([{ type: 'claim', attemptId: 'attempt_1', sessionEpoch: 9, plan: claimable.plan }]);
  expect(engine.begun).toEqual([]);
});

test('declines an offer with the reasons of the plan', async () => {
  const { desk, engine, sent } = await aDesk();
  engine.verdict = { ok: false, because: [{ because: 'unit_masked', detail: 'docker.service is masked' }] };
  await desk.offer(offer);
  expect(sent).toEqual([{ type: 'decline', attemptId: 'attempt_1', because: engine.verdict.because }]);
});

test('does not claim for a session that ended while it planned', async () => {
  const { desk, engine, sent, begin } = await aDesk();
  engine.beforeVerdict = () => {
    desk.end();
    begin();
  };
  await desk.offer(offer);
  expect(sent).toEqual([]);
});

test('begins what it claimed once it is granted, and never twice', async () => {
  const { desk, engine, sent } = await aDesk();
  await desk.offer(offer);
  await desk.grant(aGrant());
  engine.known = ['attempt_1'];
  await desk.grant(aGrant({ nonce: 'nonce_2' }));
  // The second time only makes the engine owe its result again.
  expect(engine.begun).toEqual(['attempt_1', 'attempt_1']);
  expect(sent.at(-1)).toEqual({ type: 'result', result });
});

test('declines a grant whose attempt was taken before and whose record is gone', async () => {
  const state = createMemoryStateDir();
  const first = await aDesk(state);
  await first.desk.offer(offer);
  await first.desk.grant(aGrant());
  const second = await aDesk(state);
  await second.desk.offer(offer);
  await second.desk.grant(aGrant());
  expect(second.engine.begun).toEqual([]);
  expect(second.sent.at(-1)).toMatchObject({ type: 'decline', because: [{ because: 'replayed' }] });
});

test('knows an attempt from the journal although a crash kept its grant off the list', async () => {
  const { desk, engine, sent, begin } = await aDesk();
  engine.known = ['attempt_1'];
  desk.end();
  begin();
  // Sent again from an earlier session: not a new permission, and no reason to say that it never began.
  await desk.grant(aGrant({ sessionEpoch: 8 }));
  expect(sent).toEqual([{ type: 'result', result }]);
});

test('refuses a grant for something that it did not claim in this session', async () => {
  const { desk, engine, sent, begin } = await aDesk();
  await desk.offer(offer);
  desk.end();
  begin();
  await desk.grant(aGrant());
  expect(engine.begun).toEqual([]);
  expect(sent.at(-1)).toMatchObject({ type: 'decline', because: [{ because: 'not_claimed' }] });
});

test('takes no grant as begun that the engine did not begin', async () => {
  const { desk, engine, sent } = await aDesk();
  await desk.offer(offer);
  engine.answer = { ok: false, because: 'busy', detail: 'another attempt runs' };
  await desk.grant(aGrant());
  expect(sent.at(-1)).toMatchObject({ type: 'decline', because: [{ because: 'busy' }] });
  engine.answer = { ok: true, begun: 'now' };
  await desk.grant(aGrant());
  expect(engine.begun).toEqual(['attempt_1', 'attempt_1']);
});

test('sends owed results at the begin of a session and again until each is acknowledged', async () => {
  const { desk, engine, sent, begin, tick } = await aDesk();
  engine.owed = [result];
  begin();
  await tick();
  expect(sent).toEqual([
    { type: 'result', result },
    { type: 'result', result },
  ]);
  await desk.acknowledged('attempt_1');
  await tick();
  expect(sent).toHaveLength(2);
});

test('hands a cancel to the engine', async () => {
  const { desk, engine } = await aDesk();
  await desk.cancel({ type: 'cancel', attemptId: 'attempt_1', because: 'operator' });
  expect(engine.canceled).toEqual(['attempt_1']);
});
