import { printable } from '@gpufleet/shared/api';
import Table from 'cli-table3';
import { stringify } from 'yaml';

export type Format = 'table' | 'json' | 'yaml';

/** Where a command writes: handed in so that tests can read it. */
export interface Output {
  format: Format;
  out(text: string): void;
  err(text: string): void;
  nowMs(): number;
}

/** Plain columns without lines: what `grep` and `awk` like. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const none = '';
  const table = new Table({
    head: [...head],
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: {
      top: none,
      'top-mid': none,
      'top-left': none,
      'top-right': none,
      bottom: none,
      'bottom-mid': none,
      'bottom-left': none,
      'bottom-right': none,
      left: none,
      'left-mid': none,
      mid: none,
      'mid-mid': none,
      right: none,
      'right-mid': none,
      middle: none,
    },
  });
  for (const row of rows) table.push(row.map(printable));
  return table.toString().replace(/ +$/gm, '');
}

/** Prints one value: as JSON or YAML whole, as a table by `rows`. */
export function print<T>(output: Output, value: T, table: (value: T) => string): void {
  if (output.format === 'json') output.out(`${JSON.stringify(value, null, 2)}\n`);
  else if (output.format === 'yaml') output.out(stringify(value));
  else output.out(`${table(value)}\n`);
}

export function ago(atMs: number | null, nowMs: number): string {
  if (atMs === null) return 'never';
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

export function dash(value: string | number | null | undefined): string {
  return value === null || value === undefined || value === '' ? '-' : String(value);
}

export function params(value: Record<string, unknown>): string {
  return Object.entries(value)
    .map(([key, item]) => `${key}=${typeof item === 'string' ? item : JSON.stringify(item)}`)
    .join(' ');
}
