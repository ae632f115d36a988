import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JobRequest } from '@gpufleet/shared/jobs';
import { afterAll, expect, test } from 'vitest';
import { aBench } from '../../packages/agent/src/jobs/testing/an-engine.ts';
import { type RealSmi, type SmiSuite, smiOverStandIn, smiSuites } from './nvidia-smi.ts';

const folder = mkdtempSync(join(tmpdir(), 'gpufleet-mig-jobs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A host whose nvidia-smi is the real one; `smis` take turns as `pick` says. */
function aHostWith(pick: (args: readonly string[]) => RealSmi) {
  const bench = aBench('a100-mig');
  const { host } = bench;
  host.machine.gpus = [];
  const run: typeof host.run = (argv, options) => {
    const [program, ...args] = argv;
    return program === 'nvidia-smi'
      ? Promise.resolve({ ok: true, value: pick(args).run(...args) })
      : host.run(argv, options);
  };
  return bench.engine({ host: { ...host, run } });
}

const mode = (smi: RealSmi) =>
  smi.run('--query-gpu=mig.mode.current,mig.mode.pending', '--format=csv,noheader').stdout.trim();
const instances = (smi: RealSmi) => smi.run('mig', '-lgi').stdout.match(/MIG \S+/g) ?? [];
const on: JobRequest = { kind: 'set_mig_mode', params: { enabled: true } };
const layout = (devices: Record<string, number>): JobRequest => ({
  kind: 'set_mig_layout',
  params: { layout: { devices } },
});

/** The same GPU by two ways: as it is, and with what `more` makes the driver say. Or why not. */
async function gpuOf(suite: SmiSuite, name: string, more: Record<string, string>): Promise<string | Ways> {
  const SIM_STATE = join(folder, `${suite}-${name}.state`);
  const plain = await smiOverStandIn(suite, join(folder, `${suite}-${name}`), { more: { SIM_STATE } });
  const other = await smiOverStandIn(suite, join(folder, `${suite}-${name}-other`), { more: { SIM_STATE, ...more } });
  if (!plain.ok) return plain.because;
  return other.ok ? { plain: plain.smi, other: other.smi } : other.because;
}

interface Ways {
  plain: RealSmi;
  other: RealSmi;
}

test.for(smiSuites)(
  'MIG goes on, is cut, cut otherwise and goes off; asked twice changes nothing: %s',
  async (suite, { skip }) => {
    const found = await gpuOf(suite, 'done', {});
    if (typeof found === 'string') return skip(found);
    const engine = aHostWith(() => found.plain);
    for (const [request, expected] of [
      [on, []],
      [layout({ '3g.20gb': 1, '1g.5gb': 2 }), ['MIG 1g.5gb', 'MIG 1g.5gb', 'MIG 3g.20gb']],
      [layout({ '3g.20gb': 2 }), ['MIG 3g.20gb', 'MIG 3g.20gb']],
    ] as const) {
      expect((await engine.runLocal(request)).because).toMatchObject([{ because: 'live_as_asked' }]);
      expect([...instances(found.plain)].sort()).toEqual([...expected]);
      expect(await engine.runLocal(request)).toMatchObject({ outcome: 'noop' });
    }
    const off = await engine.runLocal({ kind: 'set_mig_mode', params: { enabled: false, destroyInstances: true } });
    expect(off).toMatchObject({ outcome: 'succeeded' });
    expect(mode(found.plain)).toBe('Disabled, Disabled');
    expect(await engine.undo(off.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(instances(found.plain)).toEqual(['MIG 3g.20gb', 'MIG 3g.20gb']);
  },
);

const refusals = [
  ['inuse', 'in_use'],
  // Without a driver the program cannot reset: it says so, and the mode is taken back.
  ['resetreq', 'not_reset'],
  ['noperm', 'no_permission'],
  ['unknown', 'mig_not_set'],
] as const;

test.for(smiSuites.flatMap((suite) => refusals.map((refusal) => [suite, ...refusal] as const)))(
  'a mode that is not set is taken back: %s, %s is %s',
  async ([suite, SIM_ENABLE, because], { skip }) => {
    const found = await gpuOf(suite, SIM_ENABLE, { SIM_ENABLE });
    if (typeof found === 'string') return skip(found);
    const result = await aHostWith(() => found.other).runLocal(on);
    expect(result.because.map((one) => one.because)).toContain(because);
    expect(mode(found.plain)).toBe('Disabled, Disabled');
    expect(result.outcome).toBe('rolled_back');
  },
);

test.for(smiSuites)('instances that could only partly be made are taken back: %s', async (suite, { skip }) => {
  const found = await gpuOf(suite, 'partly', { SIM_NOPERM: '1' });
  if (typeof found === 'string') return skip(found);
  let made = 0;
  const engine = aHostWith((args) => {
    if (args.includes('-cgi')) made += 1;
    return made === 3 ? found.other : found.plain;
  });
  expect(await engine.runLocal(on)).toMatchObject({ outcome: 'succeeded' });
  const result = await engine.runLocal(layout({ '1g.5gb': 4 }));
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'no_permission' }] });
  expect(instances(found.plain)).toEqual([]);
});
