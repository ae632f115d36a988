import { expect, test } from 'vitest';
import type { Facts } from '../../probes/facts.ts';
import type { JetsonFact } from '../../probes/jetson/fact.ts';
import type { JobRequest } from '../job-request.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aFact, gpuFacts } from '../testing/facts.ts';

const powerModes = [
  { id: 0, name: 'MAXN' },
  { id: 1, name: 'MODE_15W', gating: 'TPC_PG_MASK 252' },
  { id: 2, name: 'MODE_30W' },
];

function factsOf(over: Partial<JetsonFact> = {}): Partial<Facts> {
  const facts = gpuFacts([], true, '36.4.3');
  const jetson = facts.jetson?.value;
  if (!jetson) throw new Error('there is such a fact');
  return { jetson: aFact({ ...jetson, powerModes, powerMode: { id: 2, name: 'MODE_30W' }, ...over }) };
}

const request = (params: JobRequest['params']): JobRequest => ({ kind: 'set_power_mode', params });
const plan = (params: JobRequest['params'], over?: Partial<JetsonFact>) => planJob(request(params), factsOf(over));

test.each([0, '0', 'MAXN', 'maxn'])('%s is a mode by number or name', (mode) => {
  expect(plan({ mode })).toMatchObject({
    outcome: 'plan',
    steps: [{ do: 'set_power_mode', from: 2, to: 0, atBoot: false }],
  });
});

test('a mode that switches parts of the GPU waits for leave to reboot', () => {
  expect(plan({ mode: 'MODE_15W' })).toMatchObject({ outcome: 'blocked', because: [{ because: 'needs_reboot' }] });
  expect(plan({ mode: 'MODE_15W', reboot: true })).toMatchObject({
    steps: [{ do: 'set_power_mode', from: 2, to: 1, atBoot: true }, { do: 'reboot_host' }],
  });
  expect(plan({ mode: 0, reboot: true })).toMatchObject({ steps: [{ atBoot: false }] });
});

test('what the board is in counts, not what was noted', () => {
  expect(plan({ mode: 2 })).toMatchObject({ outcome: 'noop' });
  const live = { livePowerMode: { id: 0, name: 'MAXN' } };
  expect(plan({ mode: 2 }, live)).toMatchObject({ steps: [{ from: 0, to: 2 }] });
  expect(verifyJob(request({ mode: 0 }), factsOf(live), factsOf())).toMatchObject({ ok: true });
  expect(verifyJob(request({ mode: 2 }), factsOf(live), factsOf())).toMatchObject({
    ok: false,
    because: [{ because: 'mode_differs' }],
  });
});

test.each<[string, Partial<JetsonFact>, number | string, string]>([
  ['a server', { isTegra: false }, 0, 'not_a_jetson'],
  ['a board without a table', { powerModes: [] }, 0, 'no_power_modes'],
  ['a mode of another board', {}, '120W', 'mode_unknown'],
  ['a board that does not tell', { powerMode: null }, 0, 'mode_not_told'],
])('refuses %s', (_, over, mode, because) => {
  expect(plan({ mode }, over)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});
