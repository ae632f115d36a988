import { expect, test } from 'vitest';
import { aBench, type Bench } from '../jobs/testing/an-engine.ts';
import { applyMigLayout } from './apply-mig-layout.ts';

const path = '/etc/gpufleet/mig.json';

function keep({ host }: Bench, minor: number, enabled: boolean, instances: string[] | null, uuid?: string): void {
  const places = instances?.map((place) => ({ profile: place.split('@')[0], start: Number(place.split('@')[1]) }));
  const gpu = { uuid: uuid ?? host.machine.gpus[minor]?.uuid, enabled, instances: places ?? null };
  host.machine.files.put(path, JSON.stringify({ format: 1, gpus: [gpu] }));
}

const layoutOf = ({ host }: Bench, minor: number) =>
  host.machine.gpus[minor]?.mig.instances.map(({ profile, start }) => `${profile}@${start}`).sort();

test('gives a GPU that forgot everything at boot its mode and its instances', async () => {
  const bench = aBench('h100-mig');
  await bench.host.run(['systemctl', 'disable', 'nvidia-mig-manager.service'], { timeoutMs: 1_000 });
  keep(bench, 2, true, ['3g.40gb@4', '1g.10gb@0', '1g.10gb@1']);
  bench.host.reboot();
  expect(bench.host.machine.gpus[2]?.mig.current).toBe('disabled');
  const applied = await applyMigLayout(bench.host, bench.clock);
  expect(applied).toMatchObject({
    done: [expect.any(String), expect.any(String), expect.stringContaining('3g.40gb')],
    problems: [],
  });
  expect(layoutOf(bench, 2)).toEqual(['1g.10gb@0', '1g.10gb@1', '3g.40gb@4']);
});

test('keeps what is right already, and leaves instances that are not its own to make', async () => {
  const bench = aBench('a100-mig');
  const [gpu] = bench.host.machine.gpus;
  const large = gpu?.mig.instances.find(({ start }) => start === 4);
  keep(bench, 0, true, ['3g.20gb@4', '3g.20gb@0']);
  expect(await applyMigLayout(bench.host, bench.clock)).toMatchObject({ problems: [] });
  expect(layoutOf(bench, 0)).toEqual(['3g.20gb@0', '3g.20gb@4']);
  expect(gpu?.mig.instances).toContain(large);
  keep(bench, 1, true, null);
  await applyMigLayout(bench.host, bench.clock);
  expect(layoutOf(bench, 1)).toEqual(['7g.40gb@0']);
});

test('says what it could not do: a file that is none, a GPU that is gone, a profile that it has not', async () => {
  const bench = aBench('a100-mig');
  expect(await applyMigLayout(bench.host, bench.clock)).toEqual({ done: [], problems: [] });
  bench.host.machine.files.put(path, '{');
  expect((await applyMigLayout(bench.host, bench.clock)).problems).toHaveLength(1);
  keep(bench, 0, true, [], 'GPU-gone');
  expect((await applyMigLayout(bench.host, bench.clock)).problems).toEqual([
    'GPU GPU-gone does not answer, or has no MIG',
  ]);
  keep(bench, 0, true, ['1g.9gb@0']);
  expect((await applyMigLayout(bench.host, bench.clock)).problems).toHaveLength(1);
  expect(layoutOf(bench, 0)).toHaveLength(4);
});
