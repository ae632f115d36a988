import { type Step, undoSteps } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../collector/collect-facts.ts';
import type { SimulatedClass } from '../host/simulated/index.ts';
import { ejectModule, unlinkAll } from '../host/simulated/kernel-modules.ts';
import { sha256 } from '../identity/key.ts';
import { aBench, type Bench } from '../jobs/testing/an-engine.ts';
import { applyStep, beforeStep, probeStep, type StepContext } from './index.ts';

function contextOf({ host, clock }: Bench): StepContext {
  return {
    host,
    clock,
    sha256,
    collectFacts: (only) => collectFacts({ host, sha256, only }),
    snapshot: undefined,
    readSnapshot: async () => undefined,
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    isStopping: () => false,
    tell: () => undefined,
  };
}

function stateOf({ host: { machine } }: Bench): unknown {
  const list = (folder: string) => {
    const listed = machine.files.list(folder);
    return listed.ok ? listed.value : null;
  };
  return [
    [...machine.modules].sort(),
    list('/dev'),
    list('/dev/char'),
    machine.powerMode,
    machine.files.text('/var/lib/nvpmodel/status'),
  ];
}

function withoutUvm({ host: { machine } }: Bench): void {
  ejectModule(machine, 'nvidia_uvm');
  unlinkAll(machine);
  for (const name of ['nvidia-uvm', 'nvidia-uvm-tools']) machine.files.remove(`/dev/${name}`);
}

const uvm = ['/dev/nvidia-uvm', '/dev/nvidia-uvm-tools'];
const cases: [string, SimulatedClass, Step][] = [
  ['load_modules', 'x86-docker', { do: 'load_modules', modules: ['nvidia_uvm', 'ib_umad'] }],
  ['make_device_nodes', 'x86-docker', { do: 'make_device_nodes', paths: uvm, links: true }],
  ['make_device_nodes without links', 'k3s-agent', { do: 'make_device_nodes', paths: uvm, links: false }],
  ['set_power_mode', 'orin', { do: 'set_power_mode', from: 2, to: 3, atBoot: false }],
  ['set_power_mode at boot', 'thor', { do: 'set_power_mode', from: 1, to: 3, atBoot: true }],
];

test.each(cases)('%s leaves a trace, and its inverse leaves the host as it was', async (_, hostClass, step) => {
  const bench = aBench(hostClass);
  if (step.do !== 'set_power_mode') withoutUvm(bench);
  // nvidia-modprobe would load the module too, which is another step's to undo.
  if (step.do === 'make_device_nodes') bench.host.machine.modules.add('nvidia_uvm');
  const context = contextOf(bench);
  const before = stateOf(bench);
  const journaled = await beforeStep(context, step);
  expect(await probeStep(context, step, journaled)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, journaled)).toBe('present');
  expect(stateOf(bench)).not.toEqual(before);
  for (const back of undoSteps([{ index: 0, step, before: journaled }], [])) {
    expect(await applyStep(context, back)).toEqual({ ok: true });
    expect(await probeStep(context, back, null)).toBe('present');
  }
  expect(stateOf(bench)).toEqual(before);
});

test('a module that is in use stays, and that is told', async () => {
  const bench = aBench('x86-docker');
  const context = contextOf(bench);
  const step: Step = { do: 'unload_modules', modules: ['nvidia'], keep: [] };
  expect(await applyStep(context, step)).toMatchObject({ because: { because: 'module_in_use' } });
  expect(bench.host.machine.modules.has('nvidia')).toBe(true);
});

test('what was loaded before is not known after all, so nothing is taken out', () => {
  const step: Step = { do: 'load_modules', modules: ['nvidia'] };
  expect(undoSteps([{ index: 0, step, before: null }], [])).toEqual([]);
});
