import type { Clock } from '@gpufleet/shared/core';
import { hostClass, type SimulatedClass } from './classes/index.ts';
import { installParts } from './classes/parts.ts';
import { FileTree } from './file-tree.ts';
import { type Machine, nowMs } from './machine.ts';
import { createPackageState } from './package-state.ts';
import { seeded } from './seeded.ts';
import { bootUnits } from './systemd.ts';

const day = 86_400_000;

/** A healthy machine of a class, installed weeks ago and booted days ago. */
export function createMachine(options: {
  class: SimulatedClass;
  name: string;
  seed?: string;
  clock: Clock;
  timezone?: string;
  cluster?: string;
}): Machine {
  const { clock, name } = options;
  const random = seeded(`${options.seed ?? 'gpufleet'}/${options.class}/${name}`);
  const upMs = 2 * day + random.int('uptime', 30 * day);
  const bootedAtMs = clock.nowMs() - upMs;
  const installedAtMs = bootedAtMs - 20 * day;
  const { arch, install } = hostClass(options.class);
  const machine: Machine = {
    name,
    clock,
    random,
    files: new FileTree(() => nowMs(machine), installedAtMs),
    os: { arch, kernel: '', timezone: options.timezone ?? 'Etc/UTC' },
    units: new Map(),
    processes: new Map(),
    boot: { id: random.uuid('boot/0'), atMs: bootedAtMs, atMonotonicMs: clock.monotonicMs() - upMs, count: 0 },
    driver: null,
    modules: new Set(),
    modulesOfBoot: new Set(),
    linksNodes: true,
    rejectsModules: false,
    gpus: [],
    powerMode: null,
    nvswitches: [],
    live: { docker: null, containerd: null, k3s: null, crio: null, microk8s: null },
    versions: { docker: '', containerd: '', crio: '', k3s: '', microk8s: '', toolkit: '', fabricManager: '' },
    kubernetes: null,
    containers: 0,
    packages: createPackageState(),
    disk: 'ok',
    network: 'up',
    cutOffBy: null,
    smiHangs: false,
    smiChanges: 'made',
    stoppedContainers: new Map(),
    failingUnits: new Set(),
    hangingUnits: new Set(),
    effects: [],
    historyMs: installedAtMs,
  };
  install(machine, options.cluster ?? `cluster of ${name}`);
  installParts(machine);
  machine.historyMs = bootedAtMs + 21_000;
  bootUnits(machine);
  machine.historyMs = null;
  return machine;
}
