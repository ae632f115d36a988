import { expect, test } from 'vitest';
import type { FactValue } from '../probes/facts.ts';
import { clearGpus, HolderPolicy, usersOf } from './gpu-holders.ts';
import { aGpu } from './testing/facts.ts';

type Held = FactValue<'gpu_holders'>['holders'][number];

const id = 'c'.repeat(64);
const uid = '0b1c2d3e-0000-4000-8000-000000000001';
const gpu = aGpu(0, { minorNumber: 0 });

function aHolder(over: Partial<Held> = {}): Held {
  return {
    kind: 'process',
    pid: 4711,
    name: 'python3',
    command: null,
    paths: ['/dev/nvidia0', '/dev/nvidiactl'],
    unit: null,
    containerId: null,
    pod: null,
    useCount: null,
    ...over,
  };
}

const aModule = (name: string, useCount: number) =>
  aHolder({ kind: 'kernel_module', pid: null, name, paths: [], useCount });
const persistenced = aHolder({ name: 'nvidia-persiste', unit: 'nvidia-persistenced.service', pid: 800 });
const dcgm = aHolder({ name: 'nv-hostengine', unit: 'nvidia-dcgm.service', pid: 801 });
const container = aHolder({ containerId: id });
const workloads = { docker: [aContainer()], pods: null, failures: null, lastDaemonReloadAtMs: null };

function aContainer(): NonNullable<FactValue<'workloads'>['docker']>[number] {
  const gpu = { drivers: [], cdiDevices: [], visibleDevices: 'all', requireCuda: null, disableRequire: false };
  return {
    id,
    name: 'inference',
    image: null,
    runtime: 'nvidia',
    running: true,
    exitCode: null,
    error: null,
    startedAtMs: null,
    privileged: false,
    user: null,
    process: null,
    gpu,
  };
}

function clear(holders: Held[], policy: Partial<HolderPolicy> = {}, keepsPersistenced = false) {
  return clearGpus([gpu], holders, workloads, HolderPolicy.parse(policy), { keepsPersistenced });
}

test.each([
  ['a process', aHolder(), 'in_use', 'python3 (pid 4711)'],
  ['a service that is nobody’s we know', aHolder({ unit: 'site.service' }), 'in_use', 'python3 of site.service'],
  ['a container', container, 'in_use_by_container', 'container inference'],
  ['a pod', aHolder({ containerId: id, pod: uid }), 'in_use_by_pod', uid],
  ['a kernel module', aModule('nvidia_drm', 2), 'in_use_by_module', 'kernel module nvidia_drm'],
])('%s is refused unless the job says otherwise', (_, holder, because, words) => {
  const { problems } = clear([holder]);
  expect(problems).toMatchObject([{ because }]);
  expect(problems[0]?.detail).toContain(words);
});

test('NVIDIA’s own services are stopped before and started after, the last first', () => {
  expect(clear([persistenced, dcgm])).toMatchObject({
    problems: [],
    holders: [{ type: 'unit' }, { type: 'unit' }],
    pause: [
      { do: 'stop_unit', unit: 'nvidia-dcgm.service' },
      { do: 'stop_unit', unit: 'nvidia-persistenced.service' },
      { do: 'wait_until_idle', gpuUuid: 'GPU-0', except: [] },
    ],
    resume: [
      { do: 'start_unit', unit: 'nvidia-persistenced.service' },
      { do: 'start_unit', unit: 'nvidia-dcgm.service' },
    ],
  });
  expect(clear([persistenced, dcgm], { services: 'refuse' })).toMatchObject({
    problems: [{ because: 'in_use_by_service' }],
  });
});

test('a change that the persistence daemon does not hinder leaves it running', () => {
  expect(clear([persistenced], {}, true)).toEqual({ problems: [], holders: [], pause: [], resume: [] });
});

test('containers of docker are stopped and started when the job says so; others are not ours to start again', () => {
  const stops = clear([container], { containers: 'stop' });
  expect(stops.pause.map((step) => step.do)).toEqual(['stop_container', 'wait_until_idle']);
  expect(stops.resume).toMatchObject([{ do: 'start_container', id }]);
  const others = clear([aHolder({ containerId: 'd'.repeat(64) })], { containers: 'stop' });
  expect(others.problems).toMatchObject([{ because: 'in_use_by_container' }]);
});

test('processes are waited for when the job says so, as long as it says', () => {
  expect(clear([aHolder()], { processes: 'wait', waitMs: 5_000 })).toMatchObject({
    problems: [],
    holders: [{ type: 'process', pid: 4711 }],
    pause: [{ do: 'wait_until_idle', timeoutMs: 5_000 }],
  });
});

test('who holds another GPU, the switches, or a module that only our own use, is not in the way', () => {
  const other = aHolder({ paths: ['/dev/nvidia1', '/dev/nvidiactl'] });
  const fabric = aHolder({ unit: 'nvidia-fabricmanager.service' });
  expect(usersOf(gpu, [other, fabric, aModule('nvidia_uvm', 4), aModule('nvidia_drm', 0)])).toEqual([]);
  // Without the minor number any GPU's node may be this one's.
  expect(usersOf(aGpu(0, { minorNumber: null }), [other])).toHaveLength(1);
});

test('a process that only nvidia-smi names counts as well, and none counts twice', () => {
  const listed = {
    pid: 5,
    type: 'C',
    name: 'train',
    usedMemoryMiB: null,
    gpuInstanceId: null,
    computeInstanceId: null,
  };
  const both = aGpu(0, { minorNumber: 0, processes: [listed, { ...listed, pid: 4711 }] });
  expect(usersOf(both, [aHolder()]).map(({ pid }) => pid)).toEqual([4711, 5]);
});
