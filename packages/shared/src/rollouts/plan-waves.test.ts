import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PlannedSlot, planWaves, rolloutPlanHash } from './plan-waves.ts';
import { RolloutSpec, Strategy } from './spec.ts';

function slot(hostId: string, fields: Partial<PlannedSlot> = {}): PlannedSlot {
  return {
    hostId,
    hostName: hostId,
    siteId: 'site-a',
    className: 'x86-570-docker',
    online: true,
    requests: [],
    planHash: null,
    ...fields,
  };
}

function show(slots: PlannedSlot[], strategy: object): string[] {
  return planWaves(slots, Strategy.parse(strategy)).map(
    (wave) => `${wave.name}: ${wave.slots.map((each) => each.hostId).join(' ')}`,
  );
}

const eight = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'];

test('the canary takes one host of each class, the largest class first, at most a quarter', () => {
  const slots = eight.map((id, at) => slot(id, { className: at < 1 ? 'small' : at < 4 ? 'middle' : 'large' }));
  expect(show(slots, {})[0]).toBe('canary: h5 h2');
});

test('the canary prefers a host that is online', () => {
  const slots = eight.map((id) => slot(id, { online: id === 'h3' }));
  expect(show(slots, {})[0]).toBe('canary: h3');
  expect(show(slots, { canary: { perClass: 2 } })[0]).toBe('canary: h3 h1');
});

test('one slot is its own canary, and perClass 0 is no canary', () => {
  expect(show([slot('h1')], {})).toEqual(['canary: h1']);
  expect(show([slot('h1')], { canary: { perClass: 0 } })).toEqual(['site-a: h1']);
});

test('waves by site are in the order of the sites', () => {
  const slots = eight.map((id, at) => slot(id, { siteId: at % 2 === 0 ? 'site-b' : 'site-a' }));
  expect(show(slots, { canary: { perClass: 0 } })).toEqual(['site-a: h2 h4 h6 h8', 'site-b: h1 h3 h5 h7']);
});

test('shares are rounded down, never to nobody, and the last rule repeats', () => {
  const slots = eight.slice(0, 7).map((id) => slot(id));
  const noCanary = { canary: { perClass: 0 } };
  expect(show(slots, { ...noCanary, waves: [{ by: 'percent', size: 30 }] })).toEqual([
    '1: h1 h2',
    '2: h3 h4',
    '3: h5 h6',
    '4: h7',
  ]);
  expect(
    show(slots, {
      ...noCanary,
      waves: [
        { by: 'percent', size: 1 },
        { by: 'count', size: 4 },
      ],
    }),
  ).toEqual(['1: h1', '2: h2 h3 h4 h5', '3: h6 h7']);
});

test('every slot is in exactly one wave, and the plan does not depend on the order in which hosts were found', () => {
  const rule = fc.oneof(
    fc.constant({ by: 'site' as const }),
    fc.record({ by: fc.constant('percent' as const), size: fc.integer({ min: 1, max: 100 }) }),
    fc.record({ by: fc.constant('count' as const), size: fc.integer({ min: 1, max: 9 }) }),
  );
  const anySlot = fc.record({
    siteId: fc.constantFrom('a', 'b', 'c'),
    className: fc.constantFrom('x', 'y', 'z'),
    online: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(anySlot, { maxLength: 40 }),
      fc.array(rule, { minLength: 1, maxLength: 3 }),
      fc.nat(3),
      (fields, waves, perClass) => {
        const slots = fields.map((each, at) => slot(`h${at}`, each));
        const planned = planWaves(slots, Strategy.parse({ waves, canary: { perClass } }));
        const ids = planned.flatMap((wave) => wave.slots.map((each) => each.hostId));
        expect([...ids].sort()).toEqual(slots.map((each) => each.hostId).sort());
        expect(planned.every((wave, at) => wave.index === at && wave.slots.length > 0)).toBe(true);
        const canary = planned.find((wave) => wave.isCanary);
        expect(canary?.slots.length ?? 0).toBeLessThanOrEqual(Math.max(1, Math.floor(slots.length / 4)));
        expect(planWaves([...slots].reverse(), Strategy.parse({ waves, canary: { perClass } }))).toEqual(planned);
      },
    ),
  );
});

test('the plan hash covers hosts, waves, jobs and plans, not names or who is online', () => {
  const spec = RolloutSpec.parse({
    apiVersion: 'gpufleet/v1',
    kind: 'Rollout',
    name: 'a',
    jobs: [{ kind: 'restart_service', params: {} }],
  });
  const hash = (slots: PlannedSlot[], name = 'a') =>
    rolloutPlanHash({ ...spec, name }, planWaves(slots, spec.strategy), (text) => text);
  const base = hash([slot('h1'), slot('h2')]);
  expect(hash([slot('h1'), slot('h2', { online: false })], 'b')).toBe(base);
  expect(hash([slot('h1'), slot('h2', { planHash: 'p' })])).not.toBe(base);
  expect(hash([slot('h1'), slot('h2', { requests: [{ kind: 'reboot_host', params: {} }] })])).not.toBe(base);
  expect(hash([slot('h1')])).not.toBe(base);
});
