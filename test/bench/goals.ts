export interface Measured {
  what: string;
  /** Unit of the two values. */
  unit: 'µs CPU' | 'ms' | 'MiB';
  baseline: number;
  ours: number;
  /** Median over the pairs of ours / baseline of the same pair. */
  ratio: number;
  /** The ratio that must not be passed; null: told as information, held to nothing. */
  goal: number | null;
  /** The ratio of each pair. */
  spread: number[];
}

/** A ratio that is no number was not measured: its goal is missed. */
function isMet({ ratio, goal }: Measured): boolean {
  return goal === null ? !Number.isNaN(ratio) : ratio <= goal;
}

/** 0 when every goal was met; nothing measured is no success. */
export function exitCodeOf(results: readonly Measured[]): number {
  return results.length > 0 && results.every(isMet) ? 0 : 1;
}

/** A Markdown table: each goal, what was measured, and whether it was met. */
export function renderGoals(results: readonly Measured[]): string {
  const rows = results.map((result) => {
    const { what, unit, baseline, ours, ratio, goal, spread } = result;
    const pairs = spread.map((value) => value.toFixed(2)).join(' ');
    return `| ${what} | ${baseline.toFixed(1)} ${unit} | ${ours.toFixed(1)} ${unit} | ${ratio.toFixed(2)} | ${goal === null ? '-' : `≤ ${goal}`} | ${pairs} | ${isMet(result) ? (goal === null ? '' : 'met') : 'MISSED'} |`;
  });
  return [
    '| operation | baseline | gpufleet | ratio | goal | each pair | |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
