export interface Measured {
  what: string;
  /** Unit of the two values. */
  unit: 'µs CPU' | 'MiB';
  baseline: number;
  ours: number;
  /** Median over the pairs of ours / baseline of the same pair. */
  ratio: number;
  goal: number;
  /** The ratio of each pair. */
  spread: number[];
}

/** A Markdown table: each goal, what was measured, and whether it was met. */
export function renderGoals(results: readonly Measured[]): string {
  const rows = results.map(({ what, unit, baseline, ours, ratio, goal, spread }) => {
    const pairs = spread.map((value) => value.toFixed(2)).join(' ');
    return `| ${what} | ${baseline.toFixed(1)} ${unit} | ${ours.toFixed(1)} ${unit} | ${ratio.toFixed(2)} | ≤ ${goal} | ${pairs} | ${ratio <= goal ? 'met' : 'MISSED'} |`;
  });
  return [
    '| operation | baseline | gpufleet | ratio | goal | each pair | |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
