import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { median } from './cpu.ts';
import { exitCodeOf, type Measured, renderGoals } from './goals.ts';

const measured = (ratio: number, goal: number | null): Measured => ({
  what: 'heartbeat / bare',
  unit: 'µs CPU',
  baseline: 10,
  ours: 10 * ratio,
  ratio,
  goal,
  spread: [ratio, ratio + 0.1, ratio - 0.1],
});

test.each([
  [[[1.39, 1.4]], 0],
  [[[1.4, 1.4]], 0],
  [[[1.41, 1.4]], 1],
  [
    [
      [1, 2],
      [2.1, 2],
    ],
    1,
  ],
  [[[Number.NaN, 1.4]], 1],
  [[], 1],
] as [[number, number][], number][])('ratio and goal of each %j end with %i', (results, code) => {
  expect(exitCodeOf(results.map(([ratio, goal]) => measured(ratio, goal)))).toBe(code);
});

test('a row without a goal is told and decides nothing, unless it was not measured', () => {
  expect(exitCodeOf([measured(9, null)])).toBe(0);
  expect(exitCodeOf([measured(Number.NaN, null)])).toBe(1);
  expect(renderGoals([measured(9, null)])).toContain('| 9.00 | - | 9.00 9.10 8.90 |  |');
});

test('the table has a line for each goal with what was measured, every pair, and whether it was met', () => {
  expect(renderGoals([measured(1.25, 1.4), measured(1.5, 1.4)]).split('\n')).toEqual([
    '| operation | baseline | gpufleet | ratio | goal | each pair | |',
    '|---|---|---|---|---|---|---|',
    '| heartbeat / bare | 10.0 µs CPU | 12.5 µs CPU | 1.25 | ≤ 1.4 | 1.25 1.35 1.15 | met |',
    '| heartbeat / bare | 10.0 µs CPU | 15.0 µs CPU | 1.50 | ≤ 1.4 | 1.50 1.60 1.40 | MISSED |',
  ]);
});

test('the ratio is the middle one of the pairs: one that a busy machine spoiled does not decide', () => {
  expect([median([3, 1, 2]), median([9, 1.2, 1.1])]).toEqual([2, 1.2]);
});

test('npm run bench with a name that is none exits 2 and names those that are', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/bench.mjs', 'nothing'], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain('Usage: npm run bench [-- protocol | weight');
  expect(stderr).toContain('no benchmark is named nothing');
});
