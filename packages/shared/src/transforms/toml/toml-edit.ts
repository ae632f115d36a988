import { parse, TomlError } from 'smol-toml';
import { ParseError } from 'toml-eslint-parser';
import type { KeyEdit } from '../../jobs/step.ts';
import { EditConflict, isTable, type Leaf, leavesOf, sameValue, type Value, withLeaf } from '../edit-value.ts';
import { type Edited, splitBom } from '../edited.ts';
import { appendElement } from './toml-append.ts';
import { removePath } from './toml-remove.ts';
import { addTable, setKey } from './toml-set.ts';
import { toTomlValue, valueText } from './toml-text.ts';

/** Edits TOML in place: what is not ours stays byte for byte. The result is parsed again and compared. */
export function editToml(text: string, edits: readonly KeyEdit[]): Edited {
  const { bom, body } = splitBom(text);
  const read = readToml(body);
  if (!read.ok) return read;
  let current = body;
  let value = read.value;
  try {
    for (const edit of edits) {
      for (const leaf of leavesOf(value, edit, toTomlValue, false)) {
        value = withLeaf(value, leaf);
        current = applyLeaf(current, leaf);
      }
    }
  } catch (error) {
    if (error instanceof EditConflict) return { ok: false, because: 'edit_conflict', detail: error.message };
    // smol-toml took the file: the two parsers differ, or an edit made it invalid. Nothing is written either way.
    if (error instanceof ParseError) return { ok: false, because: 'edit_not_verified', detail: error.message };
    throw error;
  }
  if (current === body) return { ok: true, text };
  const written = readToml(current);
  if (!written.ok) return { ok: false, because: 'edit_not_verified', detail: written.detail };
  // A table that only its last key's path had made goes with that key.
  if (!sameValue(withoutEmptyTables(written.value), withoutEmptyTables(value)))
    return { ok: false, because: 'edit_not_verified', detail: 'the edited TOML does not read as intended' };
  return { ok: true, text: bom + current };
}

function applyLeaf(text: string, leaf: Leaf): string {
  if (leaf.do === 'remove') return removePath(text, leaf.path);
  if (leaf.do === 'append') return appendElement(text, leaf.path, valueText(leaf.value));
  if (leaf.do === 'table') return addTable(text, leaf.path);
  return setKey(text, leaf.path, valueText(leaf.value));
}

function readToml(text: string): { ok: true; value: Value } | Extract<Edited, { ok: false }> {
  try {
    return { ok: true, value: parse(text, { integersAsBigInt: true }) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const where = `line ${error.line}, column ${error.column}`;
    return { ok: false, because: 'config_invalid', detail: `${error.message.split('\n')[0]} at ${where}` };
  }
}

function withoutEmptyTables(value: Value): Value {
  if (!isTable(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, withoutEmptyTables(member)] as const);
  return Object.fromEntries(members.filter(([, member]) => !isTable(member) || Object.keys(member).length > 0));
}
