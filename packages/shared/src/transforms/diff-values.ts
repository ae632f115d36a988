import type { StepOf } from '../jobs/step.ts';
import { type Document, parseJson, parseToml, parseYaml } from '../probes/parse-document.ts';
import { isTable, sameValue, type Table, type Value } from './edit-value.ts';
import { splitBom } from './edited.ts';
import { isSecretName, redacted } from './redact.ts';

/** One key of a config file that means something else afterwards. Values are JSON texts; null: the key is not there. */
export interface ValueChange {
  /** Names of the tables and the key. */
  path: string[];
  before: string | null;
  after: string | null;
}

type Format = StepOf<'edit_file'>['format'];

/** What a change of a config file means, key by key; null when one of the texts cannot be read as such a file. */
export function diffValues(format: Format, before: string | null, after: string | null): ValueChange[] | null {
  const [from, to] = [read(format, before), read(format, after)];
  return from.ok && to.ok ? [...changesOf([], from.value ?? {}, to.value ?? {})] : null;
}

const parsers = { json: parseJson, toml: parseToml, yaml: parseYaml } as const;

function read(format: Format, text: string | null): Document {
  const body = splitBom(text ?? '').body;
  return body.trim() === '' ? { ok: true, value: {} } : parsers[format](body);
}

function* changesOf(path: string[], before: Value, after: Value): Generator<ValueChange> {
  if (sameValue(before, after)) return;
  if (!isTableOrGone(before) || !isTableOrGone(after) || (isEmpty(before) && isEmpty(after))) {
    yield { path, before: asText(path, before), after: asText(path, after) };
    return;
  }
  for (const key of new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]))
    yield* changesOf([...path, key], own(before, key), own(after, key));
}

function isTableOrGone(value: Value): value is Table | undefined {
  return value === undefined || isTable(value);
}

/** Such a table is told by itself: it has no keys to tell it by. */
function isEmpty(table: Table | undefined): boolean {
  return Object.keys(table ?? {}).length === 0;
}

function own(table: Table | undefined, key: string): Value {
  return table && Object.hasOwn(table, key) ? table[key] : undefined;
}

function asText(path: readonly string[], value: Value): string | null {
  if (value === undefined) return null;
  if (path.some(isSecretName)) return redacted;
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part));
}
