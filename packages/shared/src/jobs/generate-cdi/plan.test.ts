import { expect, test } from 'vitest';
import type { CdiFact } from '../../probes/cdi/fact.ts';
import type { Facts, FactValue } from '../../probes/facts.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import type { JobRequest } from '../job-request.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aCdi, aDriver, aSpec } from '../testing/driver-facts.ts';
import { aDocker, aFact, aFile, aGpu, aToolkit, aUnit, dockerLive, gpuFacts } from '../testing/facts.ts';

interface Given {
  cdi?: Partial<CdiFact>;
  driver?: Partial<FactValue<'driver'>>;
  toolkit?: Partial<FactValue<'toolkit'>>;
  gpus?: Gpu[];
  isTegra?: boolean;
  dockerDevices?: string[];
}

const ctk = { name: 'nvidia-ctk', path: '/usr/bin/nvidia-ctk', mtimeMs: null };
const oneshot = { activeState: 'inactive', subState: 'dead' };
const service = aUnit('nvidia-cdi-refresh.service', oneshot);
const refresh = { service, path: aUnit('nvidia-cdi-refresh.path'), settings: {} };
const etc = '/etc/cdi/nvidia.yaml';
const run = '/var/run/cdi/nvidia.yaml';

function factsOf(given: Given = {}): Partial<Facts> {
  const live = { ...dockerLive, cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'], cdiDevices: given.dockerDevices ?? null };
  return {
    ...gpuFacts(given.gpus ?? [aGpu(0)], given.isTegra ?? false),
    cdi: aFact(aCdi(given.cdi)),
    driver: aFact(aDriver(given.driver)),
    toolkit: aFact(aToolkit({ binaries: [ctk], ...given.toolkit })),
    docker: aFact(aDocker({ live })),
  };
}

const request = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'generate_cdi', params });
const plan = (given: Given = {}, params: JobRequest['params'] = {}) => planJob(request(params), factsOf(given));

test('a first specification goes where it lasts', () => {
  expect(plan()).toMatchObject({
    outcome: 'plan',
    because: [{ because: 'cdi_spec_missing' }],
    steps: [{ do: 'generate_cdi_spec', path: etc, baseSha256: null, format: 'yaml', newMode: 0o644 }],
  });
  expect(plan({ cdi: { refresh } })).toMatchObject({ steps: [{ do: 'generate_cdi_spec', path: run }] });
  expect(plan({}, { path: '/etc/cdi/gpus.json' })).toMatchObject({ steps: [{ format: 'json' }] });
});

test('a specification that names every GPU, and only what is there, stays', () => {
  expect(plan({ cdi: { specs: [aSpec(etc)] } })).toMatchObject({ outcome: 'noop' });
  expect(plan({ cdi: { specs: [aSpec(run)], refresh } })).toMatchObject({ outcome: 'noop' });
  const byType = aSpec(etc, { devices: ['nvidia.com/gpu=gpu0'] });
  expect(plan({ cdi: { specs: [byType] } })).toMatchObject({ outcome: 'noop' });
  expect(plan({ cdi: { specs: [byType] } }, { deviceNameStrategies: ['uuid'] })).toMatchObject({ outcome: 'plan' });
});

test.each<[string, Partial<ReturnType<typeof aSpec>>, Gpu[], string]>([
  ['another driver', { driverVersions: ['550.54.15'] }, [aGpu(0)], 'cdi_spec_stale'],
  ['a path that is gone', { missingPaths: ['/usr/bin/x'] }, [aGpu(0)], 'cdi_spec_stale'],
  ['a GPU less than there are', {}, [aGpu(0), aGpu(1)], 'cdi_devices_differ'],
  ['a GPU more than there are', { devices: ['nvidia.com/gpu=0', 'nvidia.com/gpu=1'] }, [aGpu(0)], 'cdi_devices_differ'],
  [
    'a whole GPU that is cut into instances now',
    {},
    [aGpu(0, { mig: { current: 'enabled', pending: 'enabled', devices: [] } })],
    'cdi_devices_differ',
  ],
])('a specification with %s is made anew', (_, over, gpus, because) => {
  expect(plan({ cdi: { specs: [aSpec(etc, over)] }, gpus })).toMatchObject({
    outcome: 'plan',
    because: [{ because }],
    steps: [{ baseSha256: `sha of ${etc}` }],
  });
});

test('a broken file at its place is replaced, and another kind’s is not', () => {
  const broken = aSpec(etc, { kind: null, devices: [], file: aFile(etc, { error: 'not_yaml' }) });
  expect(plan({ cdi: { specs: [broken] } }, { path: etc })).toMatchObject({
    because: [{ because: 'cdi_spec_invalid' }],
  });
  const other = aSpec(etc, { kind: 'example.com/nic' });
  expect(plan({ cdi: { specs: [other] } }, { path: etc })).toMatchObject({ because: [{ because: 'other_kind' }] });
});

test('below /run it needs the unit that makes it again, enabled and with the same settings', () => {
  const stale = aSpec(run, { driverVersions: ['550.54.15'] });
  expect(plan({ cdi: { specs: [stale] } }, { path: run })).toMatchObject({ because: [{ because: 'would_not_last' }] });
  const off = { ...refresh, service: aUnit('nvidia-cdi-refresh.service', { ...oneshot, enabled: 'disabled' }) };
  expect(plan({ cdi: { specs: [stale], refresh: off } }, { path: run })).toMatchObject({
    steps: [{ do: 'enable_unit', unit: 'nvidia-cdi-refresh.service' }, { do: 'generate_cdi_spec' }],
  });
  expect(plan({ cdi: { specs: [aSpec(run)], refresh: off } }, { path: '/run/cdi/nvidia.yaml' })).toMatchObject({
    because: [{ because: 'not_enabled' }],
    steps: [{ do: 'enable_unit' }],
  });
  const settings = { NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS: 'no-additional-gids-for-device-nodes' };
  expect(plan({ cdi: { refresh: { ...refresh, settings } } })).toMatchObject({
    steps: [{ featureFlags: ['no-additional-gids-for-device-nodes'] }],
  });
  const odd = { NVIDIA_CTK_CDI_GENERATE_CLASS: 'card' };
  expect(plan({ cdi: { refresh: { ...refresh, settings: odd } } })).toMatchObject({
    because: [{ because: 'refresh_settings_unknown' }],
  });
  expect(plan({ cdi: { refresh } }, { featureFlags: ['disable-nvsandboxutils'] })).toMatchObject({
    because: [{ because: 'would_not_last' }],
  });
});

test('what would hide or collide with it is removed only when that is asked for', () => {
  const stale = aSpec(run, { driverVersions: ['550.54.15'] });
  expect(plan({ cdi: { specs: [stale] } })).toMatchObject({ because: [{ because: 'conflicting_spec' }] });
  expect(plan({ cdi: { specs: [stale] } }, { replaceOthers: true })).toMatchObject({
    steps: [
      { do: 'generate_cdi_spec', path: etc },
      { do: 'remove_file', path: run, baseSha256: `sha of ${run}` },
    ],
  });
  const twice = [aSpec(etc), aSpec('/etc/cdi/old.yaml')];
  expect(plan({ cdi: { specs: twice } }, { replaceOthers: true })).toMatchObject({
    steps: [
      { do: 'generate_cdi_spec', path: etc },
      { do: 'remove_file', path: '/etc/cdi/old.yaml' },
    ],
  });
  // Every engine prefers the one below /run.
  const old = aSpec(etc, { driverVersions: ['550.54.15'] });
  expect(plan({ cdi: { specs: [old, aSpec(run)], refresh } }, { path: run })).toMatchObject({ outcome: 'noop' });
});

test.each<[string, Given, string]>([
  ['no nvidia-ctk', { toolkit: { binaries: [] } }, 'not_installed'],
  ['a toolkit before CDI', { toolkit: { version: '1.11.0' } }, 'toolkit_too_old'],
  ['a driver that is not loaded', { driver: { loadedVersion: null } }, 'driver_not_answering'],
  ['a library of another version', { driver: { libraryVersion: '580.95.05' } }, 'driver_not_answering'],
  ['no GPU', { gpus: [] }, 'no_gpus'],
  ['a GPU off the bus', { gpus: [aGpu(0, { lost: true })] }, 'gpu_lost'],
  [
    'a 565 driver',
    { driver: { loadedVersion: '565.57.01', libraryVersion: '565.57.01' }, toolkit: { version: '1.18.1' } },
    'driver_565',
  ],
])('refuses %s', (_, given, because) => {
  expect(plan(given)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('a 565 driver is served with the flag', () => {
  const driver = { loadedVersion: '565.57.01', libraryVersion: '565.57.01' };
  expect(plan({ driver, toolkit: { version: '1.18.1' } }, { featureFlags: ['disable-nvsandboxutils'] })).toMatchObject({
    outcome: 'plan',
  });
});

test('on Tegra the lists of the board give one GPU', () => {
  const spec = aSpec(etc, { devices: ['nvidia.com/gpu=all'], driverVersions: [] });
  const given = { isTegra: true, gpus: [], driver: { loadedVersion: null } };
  expect(plan({ ...given, cdi: { specs: [spec] } })).toMatchObject({ outcome: 'noop' });
  expect(plan(given)).toMatchObject({ outcome: 'plan' });
});

test('is verified by what engines make of the folders, and by what docker lists', () => {
  const before = factsOf();
  const after = factsOf({ cdi: { specs: [aSpec(etc)] }, dockerDevices: ['nvidia.com/gpu=0'] });
  expect(verifyJob(request(), after, before)).toMatchObject({ ok: true });
  const unseen = factsOf({ cdi: { specs: [aSpec(etc)] }, dockerDevices: [] });
  expect(verifyJob(request(), unseen, before)).toMatchObject({ because: [{ because: 'live_lacks_cdi' }] });
  expect(verifyJob(request(), before, before)).toMatchObject({ because: [{ because: 'cdi_spec_missing' }] });
});

test.each<JobRequest['params']>([
  { path: 'nvidia.yaml' },
  { path: '/etc/cdi/nvidia.yml' },
  { path: '/etc/cdi/../x.yaml' },
  { vendor: 'x' },
])('refuses the params %j', (params) => {
  expect(plan({}, params)).toMatchObject({ because: [{ because: 'unsupported_params' }] });
});
