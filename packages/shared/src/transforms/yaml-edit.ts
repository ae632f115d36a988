import { isMap, isScalar, type Pair, parseDocument, stringify } from 'yaml';
import type { KeyEdit } from '../jobs/step.ts';
import { EditConflict, isTable, type Leaf, leavesOf, sameValue, type Value, withLeaf } from './edit-value.ts';
import { type Edited, eolOf, indentAt, insertLineAfter, lineStart, nextLine, splitBom } from './edited.ts';

/** Edits top-level keys of a YAML mapping in place; deeper edits are refused, since no config we write needs them. */
export function editYaml(text: string, edits: readonly KeyEdit[]): Edited {
  const { bom, body } = splitBom(text);
  const read = readYaml(body);
  if (!read.ok) return read;
  let current = body;
  let value = read.value;
  try {
    for (const edit of edits) {
      for (const leaf of leavesOf(value, edit, (given) => given, true)) {
        value = withLeaf(value, leaf);
        current = applyLeaf(current, leaf);
      }
    }
  } catch (error) {
    if (error instanceof EditConflict) return { ok: false, because: 'edit_conflict', detail: error.message };
    throw error;
  }
  const written = readYaml(current);
  if (!written.ok || !sameValue(written.value, value))
    return { ok: false, because: 'edit_not_verified', detail: 'the edited YAML does not read as intended' };
  return { ok: true, text: current === body ? text : bom + current };
}

function readYaml(text: string): { ok: true; value: Value } | Extract<Edited, { ok: false }> {
  const document = parseDocument(text, { intAsBigInt: false });
  const error = document.errors[0];
  if (error) return { ok: false, because: 'config_invalid', detail: error.message.split('\n')[0] ?? 'invalid YAML' };
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (value !== null && !isTable(value))
    return { ok: false, because: 'config_invalid', detail: 'the top level is not a mapping' };
  return { ok: true, value: value ?? {} };
}

function applyLeaf(text: string, leaf: Leaf): string {
  const [key, deeper] = leaf.path;
  if (key === undefined || deeper !== undefined)
    throw new EditConflict('only top-level keys of a YAML file are edited');
  const contents = parseDocument(text).contents;
  if (contents !== null && isMap(contents) && contents.flow) throw new EditConflict('the mapping is in flow style');
  const pairs = contents !== null && isMap(contents) ? contents.items : [];
  const pair = pairs.find((item) => isScalar(item.key) && item.key.value === key);
  if (leaf.do === 'remove') return pair ? withoutPair(text, pair) : text;
  if (leaf.do !== 'set') throw new EditConflict(`${key} is not a plain value`);
  const literal = stringify(leaf.value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  if (pair) {
    const range = isScalar(pair.value) ? pair.value.range : undefined;
    if (!range || text.slice(range[0], range[1]).includes('\n')) throw new EditConflict(`${key} is not a plain value`);
    return text.slice(0, range[0]) + (range[0] === range[1] ? ` ${literal}` : literal) + text.slice(range[1]);
  }
  const last = pairs.at(-1);
  const line = `${last ? indentAt(text, startOf(last)) : ''}${stringify(key).trimEnd()}: ${literal}`;
  const end = last ? endOf(text, last) : text.length;
  return insertLineAfter(text, end, line, eolOf(text));
}

function startOf(pair: Pair): number {
  const range = isScalar(pair.key) ? pair.key.range : undefined;
  if (!range) throw new EditConflict('a key of the mapping is not a plain value');
  return range[0];
}

/** Offset within the last line of the pair. */
function endOf(text: string, pair: Pair): number {
  const range = pair.value && typeof pair.value === 'object' && 'range' in pair.value ? pair.value.range : undefined;
  const end = Array.isArray(range) && typeof range[1] === 'number' ? range[1] : startOf(pair);
  return end > 0 && text[end - 1] === '\n' ? end - 1 : end;
}

function withoutPair(text: string, pair: Pair): string {
  return text.slice(0, lineStart(text, startOf(pair))) + text.slice(nextLine(text, endOf(text, pair)));
}
