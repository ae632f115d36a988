import {
  applyEdits as applyTextEdits,
  type FormattingOptions,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { KeyEdit } from '../jobs/step.ts';
import { EditConflict, isTable, type Leaf, leavesOf, sameValue, type Value, valueAt, withLeaf } from './edit-value.ts';
import { type Edited, eolOf, positionOf, splitBom } from './edited.ts';

/** Edits plain JSON in place. Comments and trailing commas are errors: the daemons that read these files refuse them. */
export function editJson(text: string, edits: readonly KeyEdit[]): Edited {
  const { bom, body } = splitBom(text);
  const read = readJson(body);
  if (!read.ok) return read;
  // Blank files and a lone `null` mean an empty object to dockerd.
  let current = read.value === undefined || read.value === null ? '' : body;
  let value: Value = read.value ?? {};
  if (!isTable(value)) return { ok: false, because: 'config_invalid', detail: 'the top level is not an object' };
  const formattingOptions = layoutOf(body);
  try {
    for (const edit of edits) {
      for (const leaf of leavesOf(value, edit, (given) => given, true)) {
        refuseDuplicates(current, leaf.path);
        value = withLeaf(value, leaf);
        current = applyTextEdits(current, textEditsOf(current, leaf, formattingOptions));
      }
    }
  } catch (error) {
    if (error instanceof EditConflict) return { ok: false, because: 'edit_conflict', detail: error.message };
    throw error;
  }
  if (current === '' || current === body) return { ok: true, text };
  const written = readJson(current);
  if (!written.ok || !sameValue(written.value, value))
    return { ok: false, because: 'edit_not_verified', detail: 'the edited JSON does not read as intended' };
  const ended = body.trim() === '' || body.trim() === 'null' ? `${current.trimEnd()}${eolOf(body)}` : current;
  return { ok: true, text: bom + ended };
}

function readJson(text: string): { ok: true; value: Value } | Extract<Edited, { ok: false }> {
  if (text.trim() === '') return { ok: true, value: undefined };
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const error = errors[0];
  if (error)
    return {
      ok: false,
      because: 'config_invalid',
      detail: `${printParseErrorCode(error.error)} at ${positionOf(text, error.offset)}`,
    };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (cause) {
    return { ok: false, because: 'config_invalid', detail: cause instanceof Error ? cause.message : String(cause) };
  }
}

function textEditsOf(text: string, leaf: Leaf, formattingOptions: FormattingOptions) {
  if (leaf.do === 'append') {
    const list = valueAt(JSON.parse(text), leaf.path);
    const end = Array.isArray(list) ? list.length : 0;
    return modify(text, [...leaf.path, end], leaf.value, { formattingOptions, isArrayInsertion: true });
  }
  const value = leaf.do === 'remove' ? undefined : leaf.do === 'table' ? {} : leaf.value;
  return modify(text, leaf.path, value, { formattingOptions });
}

/** Of a key given twice a parser may take either one: an edit of one of them could be without effect. */
function refuseDuplicates(text: string, path: readonly string[]): void {
  const tree = parseTree(text);
  for (let depth = 0; depth < path.length; depth++) {
    const object = tree && findNodeAtLocation(tree, path.slice(0, depth));
    const named = (object?.children ?? []).filter((member: Node) => member.children?.[0]?.value === path[depth]);
    if (named.length > 1)
      throw new EditConflict(`${path.slice(0, depth + 1).join('.')} is given ${named.length} times`);
  }
}

function layoutOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1];
  const eol = eolOf(text);
  if (indent?.startsWith('\t')) return { insertSpaces: false, tabSize: 4, eol };
  return { insertSpaces: true, tabSize: indent?.length ?? 4, eol };
}
