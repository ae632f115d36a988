import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import type { KernelEvent } from '../../probes/kernel-log/fact.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aFact, aGpu, gpuFacts } from '../testing/facts.ts';

const pending: Gpu['mig'] = { current: 'disabled', pending: 'enabled', devices: [] };
const request = (params: Record<string, string | boolean | string[]> = {}) => ({
  kind: 'reset_gpu' as const,
  params: { gpu: 'GPU-0', ...params },
});
const plan = (gpus: Gpu[], params = {}, isTegra = false) => planJob(request(params), gpuFacts(gpus, isTegra));

const noReset = { required: null, drainAndResetRecommended: null };
const askings: [string, Partial<Gpu>, string][] = [
  ['a MIG mode is pending', { mig: pending }, 'mig_pending'],
  ['the driver asks for it', { recoveryAction: 'Drain and Reset' }, 'recovery_asked'],
  ['an older driver asks for it', { reset: { ...noReset, required: true } }, 'recovery_asked'],
  ['rows are to be remapped', { remappedRowsPending: true }, 'memory_repair_pending'],
  ['memory had errors', { eccUncorrectedVolatile: 2 }, 'memory_errors'],
];

test.each(askings)('resets a GPU when %s, and is content when it is over', (_, over, because) => {
  const gpus = [aGpu(0, over), aGpu(1)];
  expect(plan(gpus)).toMatchObject({
    outcome: 'plan',
    because: [{ because }],
    steps: [{ do: 'reset_gpu', gpuUuids: ['GPU-0'], when: 'always' }],
  });
  const verify = (after: Gpu[]) => verifyJob(request(), gpuFacts(after), gpuFacts(gpus));
  expect(verify(gpus)).toMatchObject({ ok: false, because: [{ because }] });
  expect(verify([aGpu(0), aGpu(1)])).toMatchObject({ ok: true });
});

const xid: KernelEvent = {
  kind: 'xid',
  address: '0000:17:00.0',
  xid: 119,
  pid: null,
  process: null,
  detail: null,
  line: 'NVRM: Xid (PCI:0000:17:00): 119, Timeout waiting for RPC from GSP!',
  count: 1,
  firstSeconds: 900,
  lastSeconds: 900,
};
const log = (...events: KernelEvent[]) => ({
  kernel_log: aFact({ events, from: 'journal' as const, beginsAtBoot: true }),
});

test('resets a GPU after an Xid that leaves it of no use, until a reset is in the log', () => {
  const facts = { ...gpuFacts([aGpu(0)]), ...log(xid) };
  expect(planJob(request(), facts)).toMatchObject({ because: [{ because: 'kernel_asks', detail: xid.line }] });
  const reset: KernelEvent = { ...xid, kind: 'gpu_reset', xid: null, line: 'reset done' };
  expect(planJob(request(), { ...facts, ...log(xid, reset) })).toMatchObject({ outcome: 'noop' });
  // A driver that does not log its resets: the old line is history, a new one is not.
  expect(verifyJob(request(), facts, facts)).toMatchObject({ ok: true });
  expect(verifyJob(request(), { ...facts, ...log({ ...xid, count: 2 }) }, facts)).toMatchObject({ ok: false });
  const reboot = { ...xid, xid: 154, detail: 'Node Reboot Required' };
  expect(planJob(request({ force: true }), { ...facts, ...log(reboot) })).toMatchObject({
    because: [{ because: 'reboot_needed' }],
  });
});

test('does nothing where nothing asks for it, unless it is forced', () => {
  expect(plan([aGpu(0)])).toMatchObject({ outcome: 'noop', because: [{ because: 'nothing_asks_for_reset' }] });
  expect(plan([aGpu(0)], { force: true })).toMatchObject({ outcome: 'plan', because: [{ because: 'forced' }] });
});

test.each([
  ['it is gone', [aGpu(0, { lost: true })], false, 'gpu_lost'],
  ['there is no such GPU', [aGpu(1)], false, 'gpu_not_found'],
  ['it is part of a board', [aGpu(0)], true, 'integrated_gpu'],
  [
    'it drives a display',
    [aGpu(0, { display: { mode: null, attached: null, active: 'Enabled' } })],
    false,
    'display_attached',
  ],
])('is blocked when %s', (_, gpus, isTegra, because) => {
  expect(plan(gpus, { force: true }, isTegra)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('GPUs with links of their own are reset together, those behind switches alone', () => {
  const link = (gpu: number) => ({ gpu, link: 0, active: gpu < 2, gigabytesPerSecond: 25 });
  const fabric = (nvswitches: string[]): FactValue<'fabric'> => ({
    nvswitches,
    nvlink5: false,
    managerVersion: null,
    managerUnit: null,
    gpus: [],
    nvlinks: [link(0), link(1), link(2)],
    infinibandModules: [],
  });
  const facts = (nvswitches: string[]) => ({
    ...gpuFacts([aGpu(0), aGpu(1), aGpu(2)]),
    fabric: aFact(fabric(nvswitches)),
  });
  const alone = planJob(request({ force: true }), facts([]));
  expect(alone).toMatchObject({ outcome: 'blocked', because: [{ because: 'peers_needed' }] });
  expect(alone.because[0]?.detail).toContain('GPU-1');
  expect(alone.because[0]?.detail).not.toContain('GPU-2');
  expect(planJob(request({ force: true, peers: ['GPU-1'] }), facts([]))).toMatchObject({
    steps: [{ gpuUuids: ['GPU-0', 'GPU-1'] }],
  });
  expect(planJob(request({ force: true }), facts(['0000:05:00.0']))).toMatchObject({ outcome: 'plan' });
});

test('instances do not outlive a reset: they are made again, and those that nobody tells forbid it', () => {
  const on: Gpu['mig'] = { current: 'enabled', pending: 'enabled', devices: [] };
  const facts = gpuFacts([aGpu(0, { mig: on })]);
  const compute = { id: 0, profile: '3g.20gb', profileId: 2 };
  const one = { id: 1, profile: '3g.20gb', profileId: 9, start: 4, size: 4, computeInstances: [compute] };
  const profiles = aFact({ gpus: [{ index: 0, profiles: [], gpuInstances: [one] }] });
  expect(planJob(request({ force: true }), { ...facts, mig_profiles: profiles })).toMatchObject({
    steps: [{ do: 'reset_gpu' }, { do: 'set_mig_instances', to: [{ profileId: 9, start: 4, computes: null }] }],
  });
  expect(planJob(request({ force: true }), facts)).toMatchObject({ because: [{ because: 'instances_unknown' }] });
});
