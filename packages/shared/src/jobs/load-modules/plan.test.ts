import { expect, test } from 'vitest';
import type { Facts, FactValue } from '../../probes/facts.ts';
import type { JobRequest } from '../job-request.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aDriver } from '../testing/driver-facts.ts';
import { aFact, aFile, aGpu, aMissingFile, aToolkit, aUnit, gpuFacts } from '../testing/facts.ts';

const modulesFile = '/etc/modules-load.d/gpufleet.conf';
const ruleFile = '/etc/udev/rules.d/71-gpufleet-nvidia-dev-char.rules';
const ctk = { name: 'nvidia-ctk', path: '/usr/bin/nvidia-ctk', mtimeMs: null };
const pciGpu = {
  address: '0000:17:00.0',
  vendorId: '10de',
  deviceId: '20b0',
  classCode: '030200',
  driver: 'nvidia',
  driverOverride: null,
  configDead: false,
};

const boot: NonNullable<FactValue<'driver'>['boot']> = {
  modules: ['nvidia', 'nvidia_uvm'].map((module) => ({ module, file: '/etc/modules-load.d/gpu.conf' })),
  linkRules: ['/etc/udev/rules.d/71-nvidia.rules'],
  ownModulesFile: aMissingFile(modulesFile),
  ownLinkRule: aMissingFile(ruleFile),
};

const numbers: Record<string, [number, number]> = {
  '/dev/nvidiactl': [195, 255],
  '/dev/nvidia0': [195, 0],
  '/dev/nvidia-uvm': [510, 0],
  '/dev/nvidia-uvm-tools': [510, 1],
};
const rights = { mode: 0o666, uid: 0, gid: 0, group: 'root' };

function nodesOf(without: readonly string[] = [], links = true): FactValue<'device_nodes'> {
  const nodes = Object.entries(numbers)
    .filter(([path]) => !without.includes(path))
    .map(([path, [major, minor]]) => ({ path, major, minor, ...rights }));
  return {
    nodes,
    majors: { nvidia: 195, 'nvidia-uvm': 510 },
    charLinks: links
      ? nodes.map(({ path, major, minor }) => ({ path: `/dev/char/${major}:${minor}`, target: path }))
      : [],
    gpuMinors: [{ address: pciGpu.address, minor: 0, excluded: false }],
  };
}

interface Given {
  driver?: Partial<FactValue<'driver'>>;
  pci?: Partial<FactValue<'pci'>>;
  nodes?: FactValue<'device_nodes'>;
  isTegra?: boolean;
  more?: Partial<Facts>;
}

function factsOf(given: Given = {}): Partial<Facts> {
  return {
    ...gpuFacts([aGpu(0)], given.isTegra ?? false),
    driver: aFact(aDriver({ boot, ...given.driver })),
    pci: aFact({ gpus: [pciGpu], nvswitches: [], passthroughIds: [], iommuOptions: [], ...given.pci }),
    device_nodes: aFact(given.nodes ?? nodesOf()),
    toolkit: aFact(aToolkit({ binaries: [ctk] })),
    units: aFact({ units: [aUnit('nvidia-persistenced.service')], failedNames: [] }),
    ...given.more,
  };
}

const request = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'load_modules', params });
const plan = (given: Given = {}, params: JobRequest['params'] = {}) => planJob(request(params), factsOf(given));
const noUvm = ['/dev/nvidia-uvm', '/dev/nvidia-uvm-tools'];

test('loaded modules with nodes, links and files that load them need nothing', () => {
  expect(plan()).toMatchObject({ outcome: 'noop' });
});

test('unified memory that nobody loaded comes with its nodes and links, and without repeating what a boot does', () => {
  expect(plan({ driver: { modules: ['nvidia'] }, nodes: nodesOf(noUvm) })).toMatchObject({
    outcome: 'plan',
    steps: [
      { do: 'load_modules', modules: ['nvidia_uvm'] },
      { do: 'make_device_nodes', paths: noUvm, links: true },
    ],
  });
});

test('what no file makes a boot do is written into files of our own', () => {
  const bare = { ...boot, modules: [], linkRules: [] };
  const { outcome, ...rest } = plan({ driver: { boot: bare } });
  expect(outcome).toBe('plan');
  expect(rest).toMatchObject({
    steps: [
      { do: 'write_file', path: modulesFile, baseSha256: null, contents: '# Made by gpufleet\nnvidia\nnvidia_uvm\n' },
      { do: 'write_file', path: ruleFile, contents: expect.stringContaining('create-dev-char-symlinks --create-all') },
    ],
  });
  expect(plan({ driver: { boot: bare } }, { persist: false })).toMatchObject({ outcome: 'noop' });
  const own = { ...bare, linkRules: [ruleFile], ownModulesFile: aFile(modulesFile) };
  const modules = [{ module: 'nvidia', file: modulesFile }];
  expect(plan({ driver: { boot: { ...own, modules } } })).toMatchObject({
    steps: [{ baseSha256: `sha of ${modulesFile}`, contents: '# Made by gpufleet\nnvidia\nnvidia_uvm\n' }],
  });
});

test('a node with the number of another boot is made anew', () => {
  const stale = nodesOf();
  const nodes = stale.nodes.map((node) => (node.path === '/dev/nvidia-uvm' ? { ...node, major: 508 } : node));
  expect(plan({ nodes: { ...stale, nodes } })).toMatchObject({
    steps: [{ do: 'make_device_nodes', paths: ['/dev/nvidia-uvm'] }],
  });
});

test('links alone are made where the toolkit can', () => {
  expect(plan({ nodes: nodesOf([], false) })).toMatchObject({
    steps: [{ do: 'make_device_nodes', paths: [], links: true }],
  });
  const more = { toolkit: aFact(aToolkit({ binaries: [] })) };
  expect(plan({ nodes: nodesOf([], false), more })).toMatchObject({ outcome: 'noop' });
});

test('the daemon that keeps the driver awake is enabled and started where it is installed', () => {
  const unit = aUnit('nvidia-persistenced.service', { enabled: 'disabled', activeState: 'inactive' });
  expect(plan({ more: { units: aFact({ units: [unit], failedNames: [] }) } })).toMatchObject({
    steps: [{ do: 'enable_unit' }, { do: 'start_unit', unit: 'nvidia-persistenced.service' }],
  });
});

const noModules = { modules: [], loadedVersion: null };
const kernel = { kernel: 'k', running: true, modules: ['nvidia'], folder: null, headers: null };
const blacklist = {
  file: '/etc/modprobe.d/x.conf',
  line: 3,
  directive: 'blacklist' as const,
  module: 'nvidia',
  text: 'blacklist nvidia',
};

test.each<[string, Given, string]>([
  ['a Jetson', { isTegra: true, driver: noModules }, 'board_own_stack'],
  ['a host without a GPU', { pci: { gpus: [] } }, 'no_gpus'],
  [
    'a driver in a container',
    {
      driver: {
        ...noModules,
        libraryPath: null,
        otherLibraries: [{ root: '/run/nvidia/driver', path: '/x', version: null }],
      },
    },
    'driver_of_container',
  ],
  ['GPUs of guests', { pci: { gpus: [{ ...pciGpu, driver: 'vfio-pci' }] } }, 'gpus_kept_for_guests'],
  ['nouveau', { pci: { gpus: [{ ...pciGpu, driver: 'nouveau' }] }, driver: noModules }, 'other_driver'],
  ['a kernel without the module', { driver: { ...noModules, onDiskVersion: null, kernels: [] } }, 'module_not_built'],
  ['a kernel without unified memory', { driver: { modules: ['nvidia'], kernels: [kernel] } }, 'module_not_built'],
  ['a blacklist', { driver: { ...noModules, modprobe: [blacklist] } }, 'module_blocked'],
  [
    'another version on the disk',
    { driver: { modules: ['nvidia'], onDiskVersion: '580.95.05' } },
    'driver_not_current',
  ],
])('refuses %s', (_, given, because) => {
  expect(plan(given)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('modules of the NVLink 5 fabric are looked for where the fabric is read', () => {
  const modules = ['ib_umad', 'mlx5_core', 'mlx5_ib'];
  const boots = { ...boot, modules: modules.map((module) => ({ module, file: '/etc/modules' })) };
  expect(plan({ driver: { boot: boots } }, { modules })).toMatchObject({
    steps: [{ do: 'load_modules', modules }],
  });
});

test('is verified by modules, nodes, links and a driver that answers', () => {
  const before = factsOf({ driver: { modules: ['nvidia'] }, nodes: nodesOf(noUvm) });
  expect(verifyJob(request(), factsOf(), before)).toMatchObject({ ok: true });
  expect(verifyJob(request(), before, before)).toMatchObject({
    ok: false,
    because: [{ because: 'module_missing' }, {}, {}, {}],
  });
  expect(verifyJob(request(), { ...factsOf(), ...gpuFacts([]) }, before)).toMatchObject({
    because: [{ because: 'driver_not_answering' }],
    answered: false,
  });
});
