import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { aBench, type Bench } from '../testing/an-engine.ts';
import { doneTo, filesOf, holdGpu } from './testing/gpu-bench.ts';

const layout = (layout: Record<string, unknown>, more = {}): JobRequest => ({
  kind: 'set_mig_layout',
  params: { layout, ...more } as JobRequest['params'],
});
const layouts = ({ host }: Bench) =>
  host.machine.gpus.map(({ mig }) =>
    mig.current === 'enabled' ? mig.instances.map(({ profile, start }) => `${profile}@${start}`).sort() : null,
  );
const halves = layout({ devices: { '3g.20gb': 2 } });

test('a100-mig: rebuilds only what differs, and asks twice for nothing', async () => {
  const bench = aBench('a100-mig');
  const engine = bench.engine();
  const kept = bench.host.machine.gpus[0]?.mig.instances[0];
  expect(await engine.runLocal(halves)).toMatchObject({ outcome: 'succeeded' });
  expect(layouts(bench)).toEqual([
    ['3g.20gb@0', '3g.20gb@4'],
    ['3g.20gb@0', '3g.20gb@4'],
  ]);
  expect(bench.host.machine.gpus[0]?.mig.instances).toContain(kept);
  const done = doneTo(bench);
  expect(done).not.toContain('mig enabled');
  expect(await engine.runLocal(halves)).toMatchObject({ outcome: 'noop' });
  expect(doneTo(bench)).toEqual(done);
  expect(bench.log.errors).toEqual([]);
});

test('h100-mig: switches MIG on where it is off, tells engines anew, and an undo puts everything back', async () => {
  const bench = aBench('h100-mig');
  const engine = bench.engine();
  const before = layouts(bench);
  const files = filesOf(bench);
  const result = await engine.runLocal(layout({ devices: { '7g.80gb': 1 } }));
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(layouts(bench)).toEqual(Array.from({ length: 4 }, () => ['7g.80gb@0']));
  expect(doneTo(bench)).toContain('restart nvidia-cdi-refresh.service');
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(layouts(bench)).toEqual(before);
  expect(filesOf(bench)).toEqual(files);
});

test('a mig-parted configuration gives the same', async () => {
  const bench = aBench('h100-mig');
  const config =
    'version: v1\nmig-configs:\n  all-2g:\n  - devices: all\n    device-filter: "0x233010DE"\n    mig-enabled: true\n    mig-devices: {"2g.20gb": 3}\n';
  const request: JobRequest = { kind: 'set_mig_layout', params: { config, name: 'all-2g' } };
  expect(await bench.engine().runLocal(request)).toMatchObject({ outcome: 'succeeded' });
  expect(layouts(bench)).toEqual(Array.from({ length: 4 }, () => ['2g.20gb@0', '2g.20gb@2', '2g.20gb@4']));
});

test.each([
  ['nvidia_smi_denied', 'no_permission'],
  ['nvidia_smi_pretends', 'instances_differ'],
] as const)('with %s the layout of before stays: %s', async (fault, because) => {
  const bench = aBench('a100-mig', [fault]);
  const before = layouts(bench);
  const files = filesOf(bench);
  const result = await bench.engine().runLocal(halves);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because }] });
  expect(layouts(bench)).toEqual(before);
  expect(filesOf(bench)).toEqual(files);
});

test('a layout that is only partly made is taken back', async () => {
  const bench = aBench('a100-mig');
  const before = layouts(bench);
  const { host } = bench;
  let made = 0;
  const engine = bench.engine({
    host: {
      ...host,
      run: (argv, options) => {
        const isMade = argv.includes('-cgi');
        if (isMade) made += 1;
        host.machine.smiChanges = isMade && made === 3 ? 'denied' : 'made';
        return host.run(argv, options);
      },
    },
  });
  const sevenths = layout({ gpus: ['index-1'], devices: { '1g.5gb': 7 } });
  const result = await engine.runLocal(sevenths);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'no_permission' }] });
  expect(made).toBeGreaterThan(3);
  expect(layouts(bench)).toEqual(before);
});

test('an instance that is used stays used: only what goes must be idle', async () => {
  const bench = aBench('a100-mig');
  const large = bench.host.machine.gpus[0]?.mig.instances.find(({ start }) => start === 4);
  holdGpu(bench, 0, large?.gpuInstanceId ?? null);
  const engine = bench.engine();
  expect(await engine.runLocal(layout({ gpus: ['index-0'], devices: { '3g.20gb': 2 } }))).toMatchObject({
    outcome: 'succeeded',
  });
  expect(bench.host.machine.gpus[0]?.mig.instances).toContain(large);
  const whole = await engine.runLocal(layout({ gpus: ['index-0'], devices: { '7g.40gb': 1 } }));
  expect(whole).toMatchObject({ outcome: 'failed', because: [{ because: 'in_use_by_container' }] });
});

test.each([
  ['a100-mig', halves],
  ['h100-mig', layout({ devices: { '3g.40gb': 1, '1g.10gb': 2 } })],
] as const)('%s: the layout is there after a boot, whatever else lays the GPUs out', async (hostClass, request) => {
  const bench = aBench(hostClass);
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(request);
  const after = layouts(bench);
  await engine.stop();
  bench.host.reboot();
  expect(layouts(bench)).toEqual(after);
  const next = bench.engine();
  await next.recover();
  await next.idle();
  const attempt = (await next.history()).find((one) => one.attemptId === attemptId);
  expect(attempt?.afterBoot).toMatchObject({ ok: true });
  expect(await next.runLocal(request)).toMatchObject({ outcome: 'noop' });
});

test('a layout that a boot loses is told', async () => {
  const bench = aBench('h100-mig');
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(layout({ devices: { '7g.80gb': 1 } }));
  await engine.stop();
  await bench.host.run(['systemctl', 'disable', 'gpufleet-mig.service'], { timeoutMs: 1_000 });
  bench.host.reboot();
  const next = bench.engine();
  await next.recover();
  await next.idle();
  const attempt = (await next.history()).find((one) => one.attemptId === attemptId);
  expect(attempt?.afterBoot).toMatchObject({ ok: false });
});

test.each(['x86-docker', 'orin', 'thor'] as const)('%s: GPUs without MIG are refused', async (hostClass) => {
  const bench = aBench(hostClass);
  const result = await bench.engine().runLocal(layout({ devices: { '1g.5gb': 1 } }));
  expect(result.outcome).toBe('failed');
  expect(result.because[0]?.because).toMatch(/^(not_mig_capable|integrated_gpu|gpu_unidentified|profiles_unknown)$/);
  expect(doneTo(bench)).toEqual([]);
});
