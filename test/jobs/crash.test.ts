import { afterAll, expect, test } from 'vitest';
import { type Ends, type JobCase, killAt, runToEnd } from '../../packages/agent/src/jobs/testing/crash-trial.ts';
import { jobCases, nameOf } from '../../packages/agent/src/jobs/testing/job-cases.ts';

/** Every point with GPUFLEET_KILL_POINTS=all (`npm run test:crash`); else each case tries some of them, always the same. */
const isExhaustive = process.env.GPUFLEET_KILL_POINTS === 'all';
const triedOtherwise = 5;

interface Row {
  given: JobCase;
  ends: Ends;
  /** How often it was killed, by the outcome that the server was told. */
  outcomes: Map<string, number>;
}
const rows: Row[] = [];

test.each(jobCases.map((given) => [nameOf(given), given] as const))(
  '%s: killed anywhere, with and without the power, the host is as before or as wanted, and there is one result',
  async (_, given) => {
    const ends = await runToEnd(given);
    expect(ends.result.outcome, JSON.stringify(ends.result.because)).toBe(given.goesBack ? 'rolled_back' : 'succeeded');
    if (!given.goesBack) expect(ends.again.outcome).toBe('noop');
    if (ends.undone && !given.cannotGoBack) expect(ends.undone).toEqual({ outcome: 'succeeded', differs: [] });
    const row: Row = { given, ends, outcomes: new Map() };
    rows.push(row);
    for (const [diesAt, power] of trials(ends)) {
      const { outcome, problems } = await killAt(given, ends, diesAt, power);
      expect(problems, `killed at point ${diesAt}, the power ${power}`).toEqual([]);
      row.outcomes.set(outcome, (row.outcomes.get(outcome) ?? 0) + 1);
    }
    expect(killedOf(row)).toBeGreaterThan(triedOtherwise);
  },
  isExhaustive ? 600_000 : 30_000,
);

function trials({ points }: Ends): [number, 'stays' | 'goes'][] {
  const all = Array.from({ length: points }, (_, at) => at + 1);
  const every = Math.max(1, Math.floor(points / triedOtherwise));
  const tried = isExhaustive ? all : all.filter((point) => point % every === 0 || point === points);
  return tried.flatMap((point) => [[point, 'stays'] as const, [point, 'goes'] as const]).map(([a, b]) => [a, b]);
}

function killedOf({ outcomes }: Row): number {
  return [...outcomes.values()].reduce((sum, times) => sum + times, 0);
}

/** Kind by platform: what was shown of each, with counts. */
afterAll(() => {
  if (!isExhaustive) return;
  const told = rows.map((row) => {
    const { given, ends, outcomes } = row;
    const went = given.goesBack ? 'went back' : 'succeeded, then noop';
    const undone = given.goesBack || given.cannotGoBack ? '–' : `${ends.undone?.outcome}, as before`;
    const ended = [...outcomes].map(([outcome, times]) => `${outcome} ${times}`).join(', ');
    return `| ${nameOf(given)} | ${went} | ${ends.points} | ${killedOf(row)}: ${ended} | ${undone} |`;
  });
  const total = rows.reduce((sum, row) => sum + killedOf(row), 0);
  const head =
    '| job and platform | planned, applied, verified | kill points | killed, told | undone |\n|---|---|---|---|---|';
  process.stdout.write(`\n${head}\n${told.join('\n')}\n\n${total} kills, all as before or as wanted\n`);
});
