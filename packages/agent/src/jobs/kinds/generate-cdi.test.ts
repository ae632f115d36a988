import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../../collector/collect-facts.ts';
import { migDevices } from '../../host/simulated/gpus/gpu.ts';
import { type SimulatedClass, simulatedClassNames } from '../../host/simulated/index.ts';
import { aBench } from '../testing/an-engine.ts';

const generate = (params: JobRequest['params'] = {}): JobRequest => ({ kind: 'generate_cdi', params });
const etc = '/etc/cdi/nvidia.yaml';
const run = '/var/run/cdi/nvidia.yaml';
const refreshed: readonly SimulatedClass[] = ['x86-containerd-2', 'h100-mig', 'thor'];

test.each(simulatedClassNames.filter((name) => name !== 'no-gpu'))(
  '%s: writes the specification of its GPUs where it lasts, once, and takes it back',
  async (hostClass) => {
    const bench = aBench(hostClass);
    const { files, gpus } = bench.host.machine;
    const path = refreshed.includes(hostClass) ? run : etc;
    files.remove('/run/cdi');
    const engine = bench.engine();
    const done = await engine.runLocal(generate());
    expect(done).toMatchObject({ outcome: 'succeeded' });
    const text = files.text(path) ?? '';
    const names = gpus.flatMap((gpu) =>
      gpu.mig.current === 'enabled' ? migDevices(gpu).map(({ compute }) => compute.uuid) : [gpu.uuid],
    );
    if (hostClass === 'orin') expect(text).toContain('path: /dev/nvmap');
    else for (const name of names) expect(text).toContain(`name: ${name}\n`);
    expect(done.diffs[0]?.diff).toContain('+kind: nvidia.com/gpu');
    expect(await engine.runLocal(generate())).toMatchObject({ outcome: 'noop' });
    expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(files.has(path)).toBe(false);
    expect(files.has('/etc/cdi')).toBe(false);
    expect(bench.log.errors).toEqual([]);
  },
);

test('after a change of MIG the specification is made anew, and is there after a boot', async () => {
  const bench = aBench('h100-mig');
  const { machine } = bench.host;
  const [first] = machine.gpus;
  first?.mig.instances.splice(0, 3);
  const engine = bench.engine();
  const done = await engine.runLocal(generate({ path: run }));
  expect(done).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.effects.map((effect) => effect.do)).toEqual(['write']);
  bench.host.reboot();
  const next = bench.engine();
  await next.recover();
  await next.idle();
  expect((await next.history()).find(({ attemptId }) => attemptId === done.attemptId)).toMatchObject({
    afterBoot: { ok: true },
  });
  expect(await next.runLocal(generate())).toMatchObject({ outcome: 'noop' });
});

test('a driver that does not answer is refused before anything is written', async () => {
  const bench = aBench('x86-docker', ['driver_library_mismatch']);
  expect(await bench.engine().runLocal(generate())).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'driver_not_answering' }],
  });
  expect(bench.host.effects).toEqual([]);
});

test.each<[string, (answer: string) => { exitCode: number; stdout: string }, string]>([
  ['ends with an error', () => ({ exitCode: 1, stdout: '' }), 'cdi_not_generated'],
  ['ends with 0 and half a text', (text) => ({ exitCode: 0, stdout: text.slice(0, 400) }), 'cdi_not_generated'],
  [
    'ends with 0 and no device',
    () => ({ exitCode: 0, stdout: 'cdiVersion: 0.5.0\nkind: a/b\ndevices: []\n' }),
    'cdi_not_generated',
  ],
])('a generator that %s is believed nothing', async (_, answer, because) => {
  const bench = aBench('k3s-agent');
  const host = {
    ...bench.host,
    async run(argv: readonly string[], options: { timeoutMs: number }) {
      const ran = await bench.host.run(argv, options);
      return argv[1] === 'cdi' && ran.ok
        ? { ok: true as const, value: { ...ran.value, ...answer(ran.value.stdout) } }
        : ran;
    },
  };
  expect(await bench.engine({ host }).runLocal(generate())).toMatchObject({
    outcome: 'failed',
    because: [{ because }],
  });
  expect(bench.host.machine.files.has('/etc/cdi')).toBe(false);
});

test('what is generated otherwise than when the copy was made is not written', async () => {
  const bench = aBench('a100-mig');
  let runs = 0;
  const host = {
    ...bench.host,
    async run(argv: readonly string[], options: { timeoutMs: number }) {
      if (argv[1] === 'cdi' && ++runs === 3) bench.host.machine.gpus[0]?.mig.instances.pop();
      return bench.host.run(argv, options);
    },
  };
  expect(await bench.engine({ host }).runLocal(generate())).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'snapshot_differs' }],
  });
  expect(bench.host.machine.files.has('/etc/cdi')).toBe(false);
});

test('a specification that engines still see as old is taken back, with all that was removed for it', async () => {
  const bench = aBench('x86-containerd-2');
  const { files } = bench.host.machine;
  const old = (files.text(run) ?? '').replaceAll(/\.so\.[\d.]+/g, '.so.550.54.15');
  files.put('/etc/cdi/gpus.yaml', old, { mode: 0o640 });
  const engine = bench.engine({
    async collectFacts(options) {
      const facts = await collectFacts(options);
      for (const spec of facts.cdi.value?.specs ?? [])
        if (spec.file.path === etc) spec.missingPaths = ['/usr/bin/nvidia-cdi-hook'];
      return facts;
    },
  });
  expect(await engine.runLocal(generate({ path: etc, replaceOthers: true }))).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'cdi_spec_stale' }],
  });
  expect(files.has(etc)).toBe(false);
  expect(files.text('/etc/cdi/gpus.yaml')).toBe(old);
  expect(await bench.host.stat('/etc/cdi/gpus.yaml')).toMatchObject({ value: { mode: 0o640 } });
});
