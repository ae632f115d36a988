import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { parseRequest, planJob, verifyJob } from '../plan-job.ts';
import { aFact, aGpu, gpuFacts, noMigBoot } from '../testing/facts.ts';
import { parseMigParted } from './parse-mig-parted.ts';

type Profiles = FactValue<'mig_profiles'>['gpus'][number];
const on: Gpu['mig'] = { current: 'enabled', pending: 'enabled', devices: [] };
const offer = (name: string, id: number, totalInstances: number, starts: number[], size: number) => {
  return { name, id, totalInstances, freeInstances: 0, memoryGiB: null, placements: { starts, size } };
};
const offers: Profiles['profiles'] = [
  offer('1g.5gb', 19, 7, [0, 1, 2, 3, 4, 5, 6], 1),
  offer('3g.20gb', 9, 2, [0, 4], 4),
  offer('7g.40gb', 0, 1, [0], 8),
];

function has(profile: string, start: number, id: number): NonNullable<Profiles['gpuInstances']>[number] {
  const known = offers?.find(({ name }) => name === profile);
  const compute = { id: 0, profile, profileId: 0 };
  return {
    id,
    profile,
    profileId: known?.id ?? 0,
    start,
    size: known?.placements?.size ?? 0,
    computeInstances: [compute],
  };
}

function factsOf(gpus: Gpu[], instances: Profiles['gpuInstances'][] = [], profiles = offers) {
  const fact = { gpus: gpus.map(({ index }) => ({ index, profiles, gpuInstances: instances[index] ?? [] })) };
  return { ...gpuFacts(gpus), mig_profiles: aFact(fact) };
}

const request = (layout: Parameters<typeof aFact>[0]) => ({
  kind: 'set_mig_layout' as const,
  params: { layout } as never,
});
const plan = (facts: ReturnType<typeof factsOf>, layout: unknown) => planJob(request(layout), facts);

test('switches MIG on, makes the instances and keeps them for the next boots', () => {
  expect(plan(factsOf([aGpu(0)]), { devices: { '3g.20gb': 2 } })).toMatchObject({
    outcome: 'plan',
    because: [{ because: 'layout_differs' }],
    steps: [
      { do: 'set_mig_mode', to: 'enabled' },
      { do: 'reset_gpu' },
      { do: 'set_mig_instances', from: [], to: [{ start: 0 }, { start: 4 }] },
      { do: 'write_file', contents: expect.stringContaining('3g.20gb') },
      { do: 'write_file' },
      { do: 'reload_units' },
      { do: 'enable_unit' },
    ],
  });
});

test('touches only the GPUs that differ, and of them only what differs', () => {
  const gpus = [aGpu(0, { mig: on }), aGpu(1, { mig: on })];
  const facts = factsOf(gpus, [
    [has('3g.20gb', 4, 1), has('1g.5gb', 0, 7)],
    [has('3g.20gb', 4, 1), has('3g.20gb', 0, 2)],
  ]);
  const given = plan(facts, { devices: { '3g.20gb': 2 } });
  expect(given.outcome === 'plan' && given.steps.filter((step) => step.do.includes('mig'))).toMatchObject([
    { do: 'set_mig_instances', gpuUuid: 'GPU-0', to: [{ start: 0 }, { start: 4 }] },
  ]);
});

test('a program in an instance that stays is not in the way; in one that goes it is', () => {
  const process = { pid: 9, type: 'C', name: 'train', usedMemoryMiB: null, computeInstanceId: 0 };
  const facts = (gpuInstanceId: number) =>
    factsOf(
      [aGpu(0, { mig: on, processes: [{ ...process, gpuInstanceId }] })],
      [[has('3g.20gb', 4, 1), has('1g.5gb', 0, 7)]],
    );
  expect(plan(facts(1), { devices: { '3g.20gb': 2 } })).toMatchObject({ outcome: 'plan', holders: [] });
  expect(plan(facts(7), { devices: { '3g.20gb': 2 } })).toMatchObject({ because: [{ because: 'in_use' }] });
});

test('takes instances away before MIG goes off', () => {
  const facts = factsOf([aGpu(0, { mig: on })], [[has('7g.40gb', 0, 0)]]);
  const given = plan(facts, { enabled: false });
  expect(given.outcome === 'plan' && given.steps.map((step) => step.do).slice(0, 3)).toEqual([
    'set_mig_instances',
    'set_mig_mode',
    'reset_gpu',
  ]);
});

const noMig: Gpu['mig'] = { current: null, pending: null, devices: [] };
test.each([
  ['the GPU has no MIG', aGpu(0, { name: 'NVIDIA L40S', mig: noMig }), { '1g.5gb': 1 }, offers, 'not_mig_capable'],
  ['there is no such profile', aGpu(0), { '1g.9gb': 1 }, offers, 'profile_not_offered'],
  ['it does not fit', aGpu(0), { '7g.40gb': 1, '1g.5gb': 1 }, offers, 'layout_does_not_fit'],
  ['an old driver tells no profiles', aGpu(0), { '1g.5gb': 1 }, null, 'profiles_unknown'],
  ['the GPU is gone', aGpu(0, { lost: true }), { '1g.5gb': 1 }, offers, 'gpu_lost'],
])('is blocked when %s', (_, gpu, devices, profiles, because) => {
  expect(plan(factsOf([gpu], [], profiles), { devices })).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('is blocked when two entries mean one GPU, or none means any', () => {
  const facts = factsOf([aGpu(0)]);
  const two = [{ devices: { '7g.40gb': 1 } }, { devices: { '1g.5gb': 1 } }];
  expect(plan(facts, two)).toMatchObject({ because: [{ because: 'layout_ambiguous' }] });
  expect(plan(facts, { deviceFilter: '0x233010DE' })).toMatchObject({ because: [{ because: 'no_gpus' }] });
  expect(plan(facts, { deviceFilter: ['0x20b010de'], devices: { '7g.40gb': 1 } })).toMatchObject({ outcome: 'plan' });
});

test('is a no-op when the layout is there and lasts, wherever its instances lie', () => {
  const facts = factsOf([aGpu(0, { mig: on })], [[has('1g.5gb', 6, 7)]]);
  const layout = {
    format: 1 as const,
    gpus: [{ uuid: 'GPU-0', enabled: true, instances: [{ profile: '1g.5gb', start: 6 }] }],
  };
  const kept = aFact({ ...noMigBoot, layout, unitIsCurrent: true, enabled: true });
  expect(plan({ ...facts, mig_boot: kept }, { devices: { '1g.5gb': 1 } })).toMatchObject({ outcome: 'noop' });
  expect(plan(facts, { devices: { '1g.5gb': 1 } })).toMatchObject({ because: [{ because: 'lost_at_boot' }] });
});

test('is verified by the instances that the driver lists', () => {
  const asked = request({ devices: { '1g.5gb': 1 } });
  const gpu = aGpu(0, { mig: on });
  expect(verifyJob(asked, factsOf([gpu], [[has('1g.5gb', 0, 7)]]), {})).toMatchObject({ ok: true });
  const empty = { ...has('1g.5gb', 0, 7), computeInstances: [] };
  for (const instances of [[], [has('3g.20gb', 0, 1)], [empty]])
    expect(verifyJob(asked, factsOf([gpu], [instances]), {})).toMatchObject({
      because: [{ because: 'instances_differ' }],
    });
});

const config = `version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false
  half:
    - devices: [0]
      mig-enabled: true
      mig-devices: {"3g.20gb": 2}
    - device-filter: ["0x233010DE", "0x20B010DE:0x134F10DE"]
      devices: [1]
      mig-enabled: false
`;

test('takes a layout of a mig-parted configuration', () => {
  expect(parseMigParted(config, 'half')).toMatchObject({
    ok: true,
    entries: [
      { gpus: ['index-0'], enabled: true, devices: { '3g.20gb': 2 } },
      { gpus: ['index-1'], deviceFilter: ['0x233010DE', '0x20B010DE:0x134F10DE'], enabled: false },
    ],
  });
  const facts = factsOf([aGpu(0), aGpu(1)]);
  const given = planJob({ kind: 'set_mig_layout', params: { config, name: 'half' } }, facts);
  expect(given).toMatchObject({ outcome: 'plan', because: [{ detail: expect.stringContaining('2×3g.20gb') }] });
  expect(planJob({ kind: 'set_mig_layout', params: { config, name: 'other' } }, facts)).toMatchObject({
    because: [{ because: 'layout_not_found', detail: expect.stringContaining('all-disabled, half') }],
  });
});

test.each([
  ['no YAML', 'a: [', 'config_invalid'],
  ['no version', 'mig-configs: {x: []}', 'config_invalid'],
  ['an unknown field', config.replace('mig-enabled: false', 'mig-enabled: false\n      mode: x'), 'config_invalid'],
  [
    'MIG on without devices',
    'version: v1\nmig-configs:\n  all-disabled:\n  - {devices: all, mig-enabled: true}',
    'config_invalid',
  ],
  [
    'devices with MIG off',
    config.replace('mig-enabled: false', 'mig-enabled: false\n      mig-devices: {1g.5gb: 1}'),
    'config_invalid',
  ],
  [
    'a split of compute',
    config.replace('mig-enabled: false', 'mig-enabled: true\n      mig-devices: {1c.3g.20gb: 1}'),
    'config_invalid',
  ],
])('refuses a configuration with %s', (_, text, because) => {
  expect(parseMigParted(text, 'all-disabled')).toMatchObject({ ok: false, because });
});

test('a layout is given in one of two ways', () => {
  for (const params of [{}, { layout: {}, config, name: 'half' }, { config }, { layout: { devices: { big: 1 } } }])
    expect(parseRequest('set_mig_layout', params)).toMatchObject({ ok: false, because: 'unsupported_params' });
});
