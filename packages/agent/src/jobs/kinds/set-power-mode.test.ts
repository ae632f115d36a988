import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { aBench } from '../testing/an-engine.ts';

const set = (params: JobRequest['params']): JobRequest => ({ kind: 'set_power_mode', params });
const noted = '/var/lib/nvpmodel/status';

test.each([
  ['orin', 'MODE_50W', 3, 2],
  ['thor', '90W', 2, 1],
] as const)('%s: sets a mode at once, which lasts a boot, and goes back', async (hostClass, mode, to, from) => {
  const bench = aBench(hostClass);
  const before = bench.host.machine.files.text(noted);
  const engine = bench.engine();
  const result = await engine.runLocal(set({ mode }));
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.effects).toMatchObject([{ do: 'power_mode', to }]);
  expect(await engine.runLocal(set({ mode: to }))).toMatchObject({ outcome: 'noop' });
  bench.host.reboot();
  const next = bench.engine();
  await next.recover();
  await next.idle();
  expect((await next.history()).find(({ attemptId }) => attemptId === result.attemptId)).toMatchObject({
    afterBoot: { ok: true },
  });
  expect(await next.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.powerMode).toBe(from);
  expect(bench.host.machine.files.text(noted)).toBe(before);
});

test.each([
  ['orin', 'MODE_15W', 1, 2],
  ['thor', '70W', 3, 1],
] as const)('%s: a mode that only a boot brings takes one, and one back', async (hostClass, mode, to, from) => {
  const bench = aBench(hostClass);
  const engine = bench.engine();
  expect(await engine.runLocal(set({ mode }))).toMatchObject({ because: [{ because: 'needs_reboot' }] });
  expect(bench.host.effects).toEqual([]);
  const result = await engine.runLocal(set({ mode, reboot: true }));
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.powerMode).toBe(to);
  expect(bench.host.effects.map((effect) => effect.do)).toEqual(['write', 'reboot']);
  expect(await engine.undo(result.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.powerMode).toBe(from);
});

test('a table that does not tell of the boot is no trap: what nvpmodel asks for is a no', async () => {
  const bench = aBench('orin');
  const { files } = bench.host.machine;
  const engine = bench.engine({
    host: {
      ...bench.host,
      // The facts are read from a table without the masks.
      readText: async (path, options) => {
        const read = await bench.host.readText(path, options);
        return read.ok && path.endsWith('nvpmodel.conf')
          ? { ok: true, value: read.value.replaceAll(/^TPC_.*\n/gm, '') }
          : read;
      },
    },
  });
  const before = files.text(noted);
  const result = await engine.runLocal(set({ mode: 'MODE_15W' }));
  expect(result.because).toMatchObject([{ because: 'needs_reboot' }]);
  expect(['failed', 'rolled_back']).toContain(result.outcome);
  expect(bench.host.machine.powerMode).toBe(2);
  expect(files.text(noted)).toBe(before);
});

test('an nvpmodel that ends with 0 and does nothing is not believed', async () => {
  const bench = aBench('thor');
  const answer = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false };
  const host = {
    ...bench.host,
    run: async (argv: readonly string[], options: { timeoutMs: number }) =>
      argv[1] === '-m' ? { ok: true as const, value: answer } : bench.host.run(argv, options),
  };
  expect(await bench.engine({ host }).runLocal(set({ mode: 'MAXN' }))).toMatchObject({
    because: [{ because: 'mode_not_set' }],
  });
  expect(bench.host.machine.powerMode).toBe(1);
});

test('a mode that something else takes back is rolled back', async () => {
  const bench = aBench('orin');
  const engine = bench.engine({
    onProgress: ({ text }) => {
      // Somebody's service sets its own mode after ours.
      if (text.startsWith('asks the live host')) bench.host.machine.powerMode = 0;
    },
  });
  expect(await engine.runLocal(set({ mode: 3 }))).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'mode_differs' }],
  });
  expect(bench.host.machine.powerMode).toBe(2);
});
