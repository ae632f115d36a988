import type { Json } from '@gpufleet/shared/core';
import { isVolatile } from '@gpufleet/shared/probes';

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

/** One walk through both values. `path` is one stack: it is spelled out only for what changed. */
interface Walk {
  part: 'value' | 'unreadable';
  path: (string | number)[];
  changes: ValueChange[];
  isLeftOut(path: readonly (string | number)[]): boolean;
}

/**
 * Which values of the fact `name` changed: only what was read, not when or how, and nothing that never rests. A value
 * that came or went has null beside it.
 */
export function diffFacts(name: string, before: Json, after: Json): ValueChange[] {
  const changes: ValueChange[] = [];
  if (!isObject(before) || !isObject(after)) return changes;
  const isLeftOut: Walk['isLeftOut'] = (path) => isVolatile(name, path);
  diffInto({ part: 'value', path: [], changes, isLeftOut }, before.value ?? null, after.value ?? null);
  diffInto(
    { part: 'unreadable', path: [], changes, isLeftOut: () => false },
    before.unreadable ?? null,
    after.unreadable ?? null,
  );
  return changes;
}

function diffInto(walk: Walk, before: Json, after: Json): void {
  const { changes, path } = walk;
  if (before === after || changes.length >= maxChanges) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++)
      diffMember(walk, i, before[i] ?? null, after[i] ?? null);
  } else if (isObject(before) && isObject(after)) {
    for (const key in before) diffMember(walk, key, before[key] ?? null, after[key] ?? null);
    for (const key in after) if (!Object.hasOwn(before, key)) diffMember(walk, key, null, after[key] ?? null);
  } else if (!walk.isLeftOut(path)) {
    changes.push({ path: [walk.part, ...path].join('.'), before: shorten(before), after: shorten(after) });
  }
}

function diffMember(walk: Walk, key: string | number, before: Json, after: Json): void {
  if (before === after) return;
  walk.path.push(key);
  diffInto(walk, before, after);
  walk.path.pop();
}

function isObject(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function shorten(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= maxText ? value : `(${text.length} characters)`;
}
