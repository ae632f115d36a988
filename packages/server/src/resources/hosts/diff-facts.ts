import type { Json } from '@gpufleet/shared/core';

export interface ValueChange {
  /** Dotted: `value.gpus.0.migMode`. */
  path: string;
  before: Json;
  after: Json;
}

/** Changes told of one report; a whole new world (another GPU set) needs no list of a thousand leaves. */
const maxChanges = 100;
/** Longer values are told by their length. */
const maxText = 1_000;

/** Which values of a fact changed: only what was read, not when or how. A value that came or went has null beside it. */
export function diffFacts(before: Json, after: Json): ValueChange[] {
  const changes: ValueChange[] = [];
  for (const part of ['value', 'unreadable'])
    diffInto(changes, part, memberOf(before, part) ?? null, memberOf(after, part) ?? null);
  return changes.slice(0, maxChanges);
}

function diffInto(changes: ValueChange[], path: string, before: Json, after: Json): void {
  if (changes.length >= maxChanges || before === after) return;
  if (isBranch(before) && isBranch(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)]))
      diffInto(changes, `${path}.${key}`, memberOf(before, key) ?? null, memberOf(after, key) ?? null);
    return;
  }
  changes.push({ path, before: shorten(before), after: shorten(after) });
}

function isBranch(value: Json): value is Json[] | { [key: string]: Json } {
  return value !== null && typeof value === 'object';
}

function memberOf(value: Json, key: string): Json | undefined {
  if (!isBranch(value) || !Object.hasOwn(value, key)) return undefined;
  return Array.isArray(value) ? value[Number(key)] : value[key];
}

function shorten(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= maxText ? value : `(${text.length} characters)`;
}
