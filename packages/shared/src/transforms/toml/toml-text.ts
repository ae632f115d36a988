import { TomlDate } from 'smol-toml';
import { EditConflict, isTable, type Value } from '../edit-value.ts';

/** A key as TOML spells it: bare where it can be. */
export function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : stringText(key);
}

export function pathText(path: readonly string[]): string {
  return path.map(keyText).join('.');
}

/** A value on one line. Bigints are integers, numbers are floats. */
export function valueText(value: Value): string {
  if (typeof value === 'string') return stringText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return floatText(value);
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (isTable(value)) {
    const members = Object.entries(value).map(([key, member]) => `${keyText(key)} = ${valueText(member)}`);
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
  }
  throw new EditConflict('TOML has no null');
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const text = Object.is(value, -0) ? '-0.0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function stringText(text: string): string {
  // JSON's escapes are TOML's, except that TOML also refuses a raw DEL.
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}

/** JSON integers become TOML integers, as the parser gives them. */
export function toTomlValue(value: Value): Value {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(toTomlValue);
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toTomlValue(item)]));
  return value;
}
