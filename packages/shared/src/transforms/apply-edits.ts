import type { KeyEdit, StepOf } from '../jobs/step.ts';
import type { Edited } from './edited.ts';
import { editJson } from './json-edit.ts';
import { editToml } from './toml/index.ts';
import { editYaml } from './yaml-edit.ts';

const editors = { json: editJson, toml: editToml, yaml: editYaml } as const satisfies {
  [F in StepOf<'edit_file'>['format']]: (text: string, edits: readonly KeyEdit[]) => Edited;
};

/** The text after the edits; `null` is a file that does not exist. Never throws for what a file may hold. */
export function applyEdits(
  format: StepOf<'edit_file'>['format'],
  text: string | null,
  edits: readonly KeyEdit[],
): Edited {
  // Bytes that are not UTF-8 were read as U+FFFD: writing them back would lose them.
  if (text?.includes('\uFFFD')) return { ok: false, because: 'config_invalid', detail: 'the file is not UTF-8 text' };
  return editors[format](text ?? '', edits);
}
