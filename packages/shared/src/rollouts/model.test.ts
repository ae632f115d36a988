import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countWave } from './gate.ts';
import { orderedWaves } from './snapshot.ts';
import { terminalRolloutStates } from './states.ts';
import { aSlot, aSnapshot, aWave, jobsFor } from './testing/a-world.ts';
import { RolloutModel } from './testing/model.ts';
import { siteBudget } from './thresholds.ts';
import { planRollout } from './tick.ts';

const operations = ['pause', 'retry', 'accept', 'resume', 'stop', 'pass_gate', 'cancel'] as const;
const event = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ type: 'tick' as const }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('claim' as const), pick: fc.nat() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('result' as const),
      pick: fc.nat(),
      outcome: fc.constantFrom(
        ...([
          'succeeded',
          'succeeded',
          'succeeded',
          'noop',
          'failed',
          'rolled_back',
          'rollback_failed',
          'canceled',
        ] as const),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('offline' as const), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('online' as const), pick: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 400_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('operate' as const),
      operation: fc.constantFrom(...operations.slice(0, 6)),
    }),
  },
);

const setup = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
  jobs: fc.integer({ min: 1, max: 2 }),
  canary: fc.boolean(),
  soakMs: fc.constantFrom(0, 60_000),
  gate: fc.constantFrom('automatic' as const, 'manual' as const),
  offline: fc.constantFrom('defer' as const, 'wait' as const, 'skip' as const, 'fail' as const),
  failure: fc.record({ percent: fc.constantFrom(0, 10, 50), max: fc.integer({ min: 0, max: 3 }) }),
  budget: fc.record({ percent: fc.constantFrom(0, 25, 50, 100), max: fc.integer({ min: 1, max: 5 }) }),
});

function aModel({
  sizes,
  jobs,
  canary,
  ...policy
}: typeof setup extends fc.Arbitrary<infer S> ? S : never): RolloutModel {
  const slots = sizes.flatMap((size, site) =>
    Array.from({ length: size }, (_, n) =>
      aSlot(`${site}-${n}`, 'queued', {
        siteId: `site-${site}`,
        waveIndex: canary && n > 0 ? sizes.length : site,
        position: n,
      }),
    ),
  );
  const indexes = [...new Set(slots.map((slot) => slot.waveIndex))].sort((a, b) => a - b);
  const waves = indexes.map((index) =>
    aWave({ index, state: 'pending', isCanary: canary && index === 0, name: `w${index}` }),
  );
  const snapshot = aSnapshot(slots, { waves, policy });
  const more = jobs === 1 ? [] : jobsFor(slots).map((job) => ({ ...job, id: `${job.id}-b`, position: 1 }));
  return new RolloutModel({ ...snapshot, jobs: [...snapshot.jobs, ...more] });
}

/** Runs one event and checks what must hold whatever happens. */
function step(model: RolloutModel, happening: typeof event extends fc.Arbitrary<infer E> ? E : never): void {
  const before = model.snapshot;
  const pickFrom = <T>(items: readonly T[], pick: number) => items[pick % Math.max(1, items.length)];
  switch (happening.type) {
    case 'tick':
      model.tick();
      break;
    case 'claim': {
      const attempt = pickFrom(
        model.attempts.filter((each) => each.at === 'offered'),
        happening.pick,
      );
      if (!attempt) return;
      const siteId = model.siteOf(attempt.hostId);
      const out = model.outAt(siteId);
      const size = model.hostIds.filter((id) => model.siteOf(id) === siteId).length;
      const wasBusy = model.attempts.some((each) => each.hostId === attempt.hostId && each.at === 'granted');
      if (model.claim(attempt)) {
        expect(before.rollout.state).toMatch(/running|completing|waiting_window/);
        expect(wasBusy).toBe(false);
        if (!out.has(attempt.hostId))
          expect(out.size + 1).toBeLessThanOrEqual(siteBudget(size, before.rollout.policy.budget));
        expect(model.claim(attempt)).toBe(false);
      }
      break;
    }
    case 'result': {
      const attempt = pickFrom(
        model.attempts.filter((each) => each.at === 'granted'),
        happening.pick,
      );
      if (attempt) model.settle(attempt, happening.outcome);
      break;
    }
    case 'offline':
      model.goOffline(pickFrom(model.hostIds, happening.pick) ?? '');
      break;
    case 'online':
      model.comeBack(pickFrom(model.hostIds, happening.pick) ?? '');
      break;
    case 'time':
      model.nowMs += happening.ms;
      break;
    case 'operate':
      model.operate(happening.operation);
      break;
  }
  checkWaves(before, model);
  if (before.rollout.state === 'halted' && happening.type !== 'operate')
    expect(model.snapshot.rollout.state).toBe('halted');
  checkExplained(model);
}

function checkWaves(before: RolloutModel['snapshot'], model: RolloutModel): void {
  const waves = orderedWaves(model.snapshot);
  for (const [at, wave] of waves.entries()) {
    const was = before.waves.find((each) => each.index === wave.index)?.state;
    if (was === 'pending' && wave.state === 'open')
      expect(waves.slice(0, at).every((earlier) => earlier.state === 'passed')).toBe(true);
    if (was !== 'passed' && wave.state === 'passed') {
      const counters = countWave(model.snapshot, wave);
      expect(counters.good).toBeGreaterThanOrEqual(counters.counted - counters.tolerated);
      expect(counters.running + counters.waiting + counters.unknown).toBe(0);
    }
    if (was === 'passed') expect(wave.state).toBe('passed');
  }
}

function checkExplained(model: RolloutModel): void {
  const { decisions, held } = planRollout(model.world());
  const offered = decisions.flatMap((decision) => (decision.do === 'offer' ? [decision.slotId] : []));
  const moving = decisions.some((decision) => decision.do !== 'offer');
  for (const slot of model.snapshot.slots) {
    const reasons = held.filter((each) => each.slotId === slot.id);
    if (!['queued', 'waiting', 'deferred'].includes(slot.state)) expect(reasons).toEqual([]);
    else if (!moving) expect(reasons.length + offered.filter((id) => id === slot.id).length).toBe(1);
    for (const reason of reasons) expect(reason.detail !== '' && reason.clearedBy !== '').toBe(true);
  }
}

test('whatever happens: budget, one writer for each host, waves only forward, halts stay, waiting is explained', () => {
  fc.assert(
    fc.property(setup, fc.array(event, { maxLength: 80 }), (parts, events) => {
      const model = aModel(parts);
      for (const happening of events) step(model, happening);
    }),
    { numRuns: 400 },
  );
});

test('once faults end and people decide, every rollout ends', () => {
  fc.assert(
    fc.property(setup, fc.array(event, { maxLength: 60 }), (parts, events) => {
      const model = aModel(parts);
      for (const happening of events) step(model, happening);
      for (const hostId of model.hostIds) model.comeBack(hostId);
      model.quarantined.clear();
      for (let turn = 0; turn < 300 && !isEnded(model); turn += 1) {
        model.operate('pass_gate');
        model.operate('retry');
        model.operate('accept');
        step(model, { type: 'tick' });
        for (const attempt of model.attempts) if (attempt.at === 'offered') model.claim(attempt);
        for (const attempt of model.attempts) model.settle(attempt, 'succeeded');
        model.nowMs += 10_000;
      }
      expect(model.snapshot.rollout.state).toMatch(/^(succeeded|completed_with_exceptions)$/);
    }),
    { numRuns: 200 },
  );
});

test('a cancel ends every waiting slot at once and the rollout once nothing runs', () => {
  fc.assert(
    fc.property(setup, fc.array(event, { maxLength: 40 }), (parts, events) => {
      const model = aModel(parts);
      for (const happening of events) step(model, happening);
      if (isEnded(model)) return;
      expect(model.operate('cancel')).toBe(true);
      const { grants } = model;
      expect(model.snapshot.slots.filter((slot) => ['queued', 'waiting', 'deferred'].includes(slot.state))).toEqual([]);
      for (const attempt of model.attempts) model.claim(attempt);
      for (const attempt of model.attempts) model.settle(attempt, 'canceled');
      model.tick();
      expect(model.snapshot.rollout.state).toBe('canceled');
      expect(model.grants).toBe(grants);
    }),
    { numRuns: 100 },
  );
});

function isEnded(model: RolloutModel): boolean {
  return terminalRolloutStates.some((state) => state === model.snapshot.rollout.state);
}
