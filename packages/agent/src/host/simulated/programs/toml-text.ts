import type { Table } from '../daemons/containerd-config.ts';

/** Writes tables as containerd dumps them: two spaces a level, values before tables. */
export function tomlText(table: Table): string {
  return lines(table, [], 0).join('\n');
}

function lines(table: Table, path: readonly string[], depth: number): string[] {
  const indent = '  '.repeat(depth);
  const entries = Object.entries(table);
  const values = entries
    .filter(([, value]) => !isTable(value))
    .map(([key, value]) => `${indent}${keyText(key)} = ${valueText(value)}`);
  const tables = entries.flatMap(([key, value]) => {
    if (!isTable(value)) return [];
    const below = [...path, key];
    return ['', `${indent}[${below.map(keyText).join('.')}]`, ...lines(value, below, depth + 1)];
  });
  return path.length ? [...values, ...tables] : [...values, ...tables, ''];
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${keyText(key)} = ${valueText(inner)}`)
      .join(', ')} }`;
  return String(value);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
