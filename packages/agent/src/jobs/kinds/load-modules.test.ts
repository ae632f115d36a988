import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import type { SimulatedClass, SimulatedHost } from '../../host/simulated/index.ts';
import { ejectModule, unlinkAll } from '../../host/simulated/kernel-modules.ts';
import { aBench } from '../testing/an-engine.ts';

const load = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'load_modules', params });
const servers: readonly SimulatedClass[] = [
  'x86-docker',
  'x86-containerd-1.7',
  'x86-containerd-2',
  'k3s-server',
  'rke2-server',
  'a100-mig',
  'hgx-h100',
];

/** As after a boot in which nothing asked for unified memory, and nothing made links. */
function withoutUvm({ machine }: SimulatedHost): void {
  ejectModule(machine, 'nvidia_uvm');
  machine.modulesOfBoot.delete('nvidia_uvm');
  machine.linksNodes = false;
  for (const name of ['nvidia-uvm', 'nvidia-uvm-tools']) machine.files.remove(`/dev/${name}`);
  unlinkAll(machine);
}

/** As on a host whose driver was installed and never loaded. */
function withoutDriver(host: SimulatedHost): void {
  withoutUvm(host);
  const { machine } = host;
  const persistenced = machine.units.get('nvidia-persistenced.service');
  if (persistenced) Object.assign(persistenced, { active: 'inactive', enabled: 'disabled' });
  for (const name of ['nvidia_drm', 'nvidia_modeset', 'nvidia']) ejectModule(machine, name);
  machine.modulesOfBoot.clear();
  for (const { minor } of machine.gpus) machine.files.remove(`/dev/nvidia${minor}`);
  machine.files.remove('/dev/nvidiactl');
}

function stateOf({ machine }: SimulatedHost): unknown {
  const list = (folder: string) => {
    const listed = machine.files.list(folder);
    return listed.ok ? listed.value.map(({ name, type }) => `${name} ${type}`) : null;
  };
  const units = [...machine.units.values()].map(({ name, active, enabled }) => [name, active, enabled]);
  const folders = ['/dev', '/dev/char', '/etc', '/etc/modules-load.d', '/etc/udev'].map(list);
  return { modules: [...machine.modules].sort(), folders, units };
}

test.each(servers)(
  '%s: loads what is missing with nodes and links, keeps it over a boot, and takes it out',
  async (name) => {
    const bench = aBench(name);
    withoutUvm(bench.host);
    const before = stateOf(bench.host);
    const engine = bench.engine();
    const done = await engine.runLocal(load());
    expect(done).toMatchObject({ outcome: 'succeeded' });
    const { files, modules } = bench.host.machine;
    expect(modules.has('nvidia_uvm')).toBe(true);
    expect(files.has('/dev/nvidia-uvm')).toBe(true);
    expect(files.has('/dev/char/195:0')).toBe(true);
    expect(await engine.runLocal(load())).toMatchObject({ outcome: 'noop' });
    expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(stateOf(bench.host)).toEqual(before);

    const again = await engine.runLocal(load());
    bench.host.reboot();
    const next = bench.engine();
    await next.recover();
    await next.idle();
    expect((await next.history()).find(({ attemptId }) => attemptId === again.attemptId)).toMatchObject({
      afterBoot: { ok: true },
    });
    expect(await next.runLocal(load())).toMatchObject({ outcome: 'noop' });
    expect(bench.log.errors).toEqual([]);
  },
);

test('loads a driver that was never loaded, with its daemon, and takes all of it out', async () => {
  const bench = aBench('k3s-agent');
  withoutDriver(bench.host);
  const before = stateOf(bench.host);
  const engine = bench.engine();
  const done = await engine.runLocal(load());
  expect(done).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.units.get('nvidia-persistenced.service')).toMatchObject({
    active: 'active',
    enabled: 'enabled',
  });
  expect(await engine.runLocal(load())).toMatchObject({ outcome: 'noop' });
  expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(stateOf(bench.host)).toEqual(before);
});

test('what is not to last is gone after a boot, and that is no loss', async () => {
  const bench = aBench('x86-docker');
  withoutUvm(bench.host);
  const done = await bench.engine().runLocal(load({ persist: false }));
  expect(done).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.files.has('/etc/modules-load.d/gpufleet.conf')).toBe(false);
  bench.host.reboot();
  const next = bench.engine();
  await next.recover();
  await next.idle();
  expect(bench.host.machine.modules.has('nvidia_uvm')).toBe(false);
  expect((await next.history())[0]).toMatchObject({
    afterBoot: { ok: true, because: [{ because: 'not_persistent' }] },
  });
});

test('a kernel that rejects the module is told, and nothing is left', async () => {
  const bench = aBench('x86-docker');
  withoutDriver(bench.host);
  bench.host.machine.rejectsModules = true;
  const before = stateOf(bench.host);
  expect(await bench.engine().runLocal(load())).toMatchObject({ because: [{ because: 'module_rejected' }] });
  expect(stateOf(bench.host)).toEqual(before);
});

test('a modprobe that ends with 0 and loads nothing is not believed; what was loaded before it is taken out', async () => {
  const bench = aBench('x86-containerd-2');
  withoutDriver(bench.host);
  const before = stateOf(bench.host);
  const nothing = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false };
  const host = {
    ...bench.host,
    run: async (argv: readonly string[], options: { timeoutMs: number }) =>
      argv[0] === 'modprobe' && argv[1] === 'nvidia_uvm'
        ? { ok: true as const, value: nothing }
        : bench.host.run(argv, options),
  };
  expect(await bench.engine({ host }).runLocal(load())).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'module_not_loaded' }],
  });
  expect(stateOf(bench.host)).toEqual(before);
});

test('a driver that does not answer although it is loaded is taken out again', async () => {
  const bench = aBench('x86-docker');
  withoutDriver(bench.host);
  const before = stateOf(bench.host);
  const host = {
    ...bench.host,
    run: async (argv: readonly string[], options: { timeoutMs: number }) => {
      const ran = await bench.host.run(argv, options);
      return argv[0] === 'nvidia-smi' && ran.ok
        ? { ok: true as const, value: { ...ran.value, exitCode: 6, stdout: 'No devices were found\n' } }
        : ran;
    },
  };
  expect(await bench.engine({ host }).runLocal(load())).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'driver_not_answering' }],
  });
  expect(stateOf(bench.host)).toEqual(before);
});

test('without nvidia-modprobe the control nodes come from the toolkit’s program, or the lack is told', async () => {
  const bench = aBench('k3s-server');
  withoutUvm(bench.host);
  bench.host.machine.files.remove('/usr/bin/nvidia-modprobe');
  expect(await bench.engine().runLocal(load())).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.files.has('/dev/nvidia-uvm')).toBe(true);
});
