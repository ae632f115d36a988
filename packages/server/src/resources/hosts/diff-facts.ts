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
  if (!isObject(before) || !isObject(after)) return changes;
  for (const part of ['value', 'unreadable']) diffInto(changes, [part], before[part] ?? null, after[part] ?? null);
  return changes;
}

/** `path` is one stack for the whole walk: it is spelled out only for what changed. */
function diffInto(changes: ValueChange[], path: (string | number)[], before: Json, after: Json): void {
  if (before === after || changes.length >= maxChanges) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i++)
      diffMember(changes, path, i, before[i] ?? null, after[i] ?? null);
  } else if (isObject(before) && isObject(after)) {
    for (const key in before) diffMember(changes, path, key, before[key] ?? null, after[key] ?? null);
    for (const key in after) if (!Object.hasOwn(before, key)) diffMember(changes, path, key, null, after[key] ?? null);
  } else {
    changes.push({ path: path.join('.'), before: shorten(before), after: shorten(after) });
  }
}

function diffMember(
  changes: ValueChange[],
  path: (string | number)[],
  key: string | number,
  before: Json,
  after: Json,
) {
  if (before === after) return;
  path.push(key);
  diffInto(changes, path, before, after);
  path.pop();
}

function isObject(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function shorten(value: Json): Json {
  const text = JSON.stringify(value);
  return text.length <= maxText ? value : `(${text.length} characters)`;
}
