import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import type { FaultSpec, SimulatedClass } from '../../host/simulated/index.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';
import { doneTo, filesOf, holdGpu, runDcgm } from './testing/gpu-bench.ts';

const off: JobRequest = { kind: 'set_mig_mode', params: { enabled: false } };

function withoutInstances(hostClass: SimulatedClass, faults: FaultSpec[] = []): Bench {
  const bench = aBench(hostClass, faults);
  for (const gpu of bench.host.machine.gpus) gpu.mig.instances = [];
  return bench;
}

const modes = ({ host }: Bench) => host.machine.gpus.map(({ mig }) => `${mig.current}/${mig.pending}`);

test.each(['a100-mig', 'h100-mig'] as const)(
  '%s: switches MIG off and on, asks twice for nothing',
  async (hostClass) => {
    const bench = withoutInstances(hostClass);
    const engine = bench.engine();
    expect(await engine.runLocal(off)).toMatchObject({ outcome: 'succeeded' });
    expect(new Set(modes(bench))).toEqual(new Set(['disabled/disabled']));
    const done = doneTo(bench);
    expect(await engine.runLocal(off)).toMatchObject({ outcome: 'noop' });
    expect(doneTo(bench)).toEqual(done);
    const on: JobRequest = { kind: 'set_mig_mode', params: { enabled: true } };
    expect(await engine.runLocal(on)).toMatchObject({ outcome: 'succeeded' });
    expect(new Set(modes(bench))).toEqual(new Set(['enabled/enabled']));
    expect(await engine.runLocal(on)).toMatchObject({ outcome: 'noop' });
    expect(bench.log.errors).toEqual([]);
  },
);

test('NVIDIA’s own services make room and come back', async () => {
  const bench = withoutInstances('a100-mig');
  runDcgm(bench);
  const result = await bench.engine().runLocal(off);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench).filter((effect) => !effect.startsWith('write'))).toEqual([
    'stop nvidia-dcgm.service',
    'stop nvidia-persistenced.service',
    'mig disabled',
    'mig disabled',
    'enable gpufleet-mig.service',
    'start nvidia-persistenced.service',
    'start nvidia-dcgm.service',
  ]);
});

test('on Hopper the persistence daemon stays; engines are told anew of devices', async () => {
  const bench = withoutInstances('h100-mig');
  expect(await bench.engine().runLocal(off)).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench).join()).not.toContain('persistenced');
  expect(doneTo(bench)).toContain('restart nvidia-cdi-refresh.service');
});

test('a mode that waits for a reset gets one', async () => {
  const bench = withoutInstances('a100-mig', ['mig_reset_required']);
  const result = await bench.engine().runLocal(off);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench).filter((effect) => effect.startsWith('gpu_reset'))).toHaveLength(2);
});

test('a mode that stays pending is taken back, since an exit code of 0 is not success', async () => {
  const bench = withoutInstances('a100-mig', ['mig_reset_required']);
  const files = filesOf(bench);
  // The reset says that it was made, and nothing has changed.
  const { host } = bench;
  const engine = bench.engine({
    host: {
      ...host,
      run: (argv, options) =>
        argv.includes('--gpu-reset')
          ? Promise.resolve({
              ok: true,
              value: { exitCode: 0, stdout: 'All done.\n', stderr: '', timedOut: false, truncated: false },
            })
          : host.run(argv, options),
    },
  });
  const result = await engine.runLocal(off);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'not_reset' }] });
  expect(new Set(modes(bench))).toEqual(new Set(['enabled/enabled']));
  expect(filesOf(bench)).toEqual(files);
  expect(host.machine.units.get('nvidia-persistenced.service')?.active).toBe('active');
});

test.each([
  ['nvidia_smi_denied', 'no_permission'],
  ['nvidia_smi_pretends', 'mig_not_set'],
] as const)('with %s nothing is left behind: %s', async (fault, because) => {
  const bench = withoutInstances('a100-mig', [fault]);
  const files = filesOf(bench);
  const result = await bench.engine().runLocal(off);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because }] });
  expect(new Set(modes(bench))).toEqual(new Set(['enabled/enabled']));
  expect(filesOf(bench)).toEqual(files);
});

test('a program that takes the GPU after the plan leaves the mode pending, and the change is taken back', async () => {
  const bench = withoutInstances('a100-mig');
  const { host } = bench;
  const engine = bench.engine({
    host: {
      ...host,
      run: (argv, options) => {
        if (argv.includes('-mig') && argv.at(-1) === '0') holdGpu(bench, 0);
        else if (argv.includes('-mig')) for (const gpu of host.machine.gpus) gpu.clients = [];
        return host.run(argv, options);
      },
    },
  });
  const result = await engine.runLocal(off);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'in_use' }] });
  expect(new Set(modes(bench))).toEqual(new Set(['enabled/enabled']));
});

test('who holds a GPU is left alone, waited for or stopped as the job says', async () => {
  const bench = withoutInstances('a100-mig');
  const engine = bench.engine();
  holdGpu(bench, 0);
  expect(await engine.runLocal(off)).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'in_use_by_container' }],
  });
  expect(doneTo(bench)).toEqual([]);

  const stops: JobRequest = { kind: 'set_mig_mode', params: { enabled: false, holders: { containers: 'stop' } } };
  expect(await engine.runLocal(stops)).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench).filter((effect) => effect.includes('container'))).toEqual([
    'stop_container inference',
    'start_container inference',
  ]);
  expect(bench.host.machine.gpus[0]?.clients).toHaveLength(1);
});

test('a process is waited for, for as long as the job says', async () => {
  const bench = withoutInstances('a100-mig');
  const [gpu] = bench.host.machine.gpus;
  const waits: JobRequest = {
    kind: 'set_mig_mode',
    params: { enabled: false, holders: { processes: 'wait', waitMs: 60_000 } },
  };
  gpu?.clients.push({ pid: 4711, name: 'python3', usedMiB: 1, gpuInstanceId: null });
  const plain = { ...bench.host, readText: withoutCgroup(bench, 4711) };
  const engine = bench.engine({ host: plain });
  expect(await engine.runLocal(waits)).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'in_use' }] });
  expect(bench.host.machine.units.get('nvidia-persistenced.service')?.active).toBe('active');
  bench.clock.after(20_000, () => void gpu?.clients.pop());
  expect(await engine.runLocal(waits)).toMatchObject({ outcome: 'succeeded' });
});

/** The process is nobody's container. */
function withoutCgroup({ host }: Bench, pid: number): Bench['host']['readText'] {
  return (path, options) =>
    path === `/proc/${pid}/cgroup`
      ? Promise.resolve({ ok: true, value: '0::/user.slice/user-0.slice/session-1.scope\n' })
      : host.readText(path, options);
}

test('instances go only when that is asked for, and an undo makes them again', async () => {
  const bench = aBench('a100-mig');
  const engine = bench.engine();
  const layout = () =>
    bench.host.machine.gpus.map(({ mig }) => mig.instances.map((one) => `${one.profile}@${one.start}`));
  const before = layout();
  expect(await engine.runLocal(off)).toMatchObject({ outcome: 'failed', because: [{ because: 'has_instances' }, {}] });
  const result = await engine.runLocal({ kind: 'set_mig_mode', params: { enabled: false, destroyInstances: true } });
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(layout()).toEqual([[], []]);
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(layout().map((places) => places.sort())).toEqual(before.map((places) => places.sort()));
});

test.each(['a100-mig', 'h100-mig'] as const)(
  '%s: the mode is there after a boot, whatever else sets it',
  async (hostClass) => {
    const bench = withoutInstances(hostClass);
    const engine = bench.engine();
    const request: JobRequest = { kind: 'set_mig_mode', params: { enabled: hostClass === 'h100-mig' } };
    const { attemptId } = await engine.runLocal(request);
    await engine.stop();
    bench.host.reboot();
    const next = bench.engine();
    await next.recover();
    await next.idle();
    const attempt = (await next.history()).find((one) => one.attemptId === attemptId);
    expect(attempt?.afterBoot).toMatchObject({ ok: true });
    expect(await next.runLocal(request)).toMatchObject({ outcome: 'noop' });
  },
);
