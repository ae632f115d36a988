import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyEdit } from '@gpufleet/shared/jobs';
import { parseContainerdFile } from '@gpufleet/shared/probes';
import { applyEdits } from '@gpufleet/shared/transforms';
import { expect, test } from 'vitest';
import { hasCorpus, ifSkipped, readCaptures } from '../samples/corpus.ts';
import { readCtkCases, readTree } from './nvidia-ctk-case.ts';

interface Sample {
  name: string;
  text: string;
}

/** Configurations of real hosts that a containerd or a dockerd could read. */
const toml: Sample[] = [
  ...readCaptures()
    .filter(({ kind }) => kind === 'containerd')
    .map(({ file, text }) => ({ name: file, text })),
  ...readCtkCases('containerd').flatMap(({ name, folder }) => textsOf(name, join(folder, 'input'), '.toml')),
].filter(({ text }) => parseContainerdFile(text).value !== null);
const json: Sample[] = readCtkCases('docker')
  .flatMap(({ name, folder }) => textsOf(name, join(folder, 'input'), '.json'))
  .filter(({ text }) => isObject(text));

function textsOf(name: string, folder: string, ending: string): Sample[] {
  return Object.entries(readTree(folder)).flatMap(([path, file]) =>
    path.endsWith(ending) && typeof file === 'string' && file !== ''
      ? [{ name: `${name}${path}`, text: readFileSync(join(folder, path), 'utf8') }]
      : [],
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' && !Array.isArray(value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function editsFor(text: string): KeyEdit[] {
  const version = parseContainerdFile(text).value?.version ?? 1;
  const plugin = version >= 3 ? 'io.containerd.cri.v1.runtime' : version === 2 ? 'io.containerd.grpc.v1.cri' : 'cri';
  const runtimes = ['plugins', plugin, 'containerd', 'runtimes'];
  return [
    { op: 'copy', from: [...runtimes, 'runc'], path: [...runtimes, 'gpufleet-test'] },
    { op: 'set', path: [...runtimes, 'gpufleet-test', 'options', 'BinaryName'], value: '/usr/bin/runtime' },
    { op: 'append', path: ['imports'], value: '/etc/gpufleet-test/*.toml' },
  ];
}

/** Every line of `before` in its order, except that a line which ended a list or an object may have got a comma. */
function keepsLines(before: string, after: string): boolean {
  const lines = after.split('\n');
  let from = 0;
  for (const line of before.split('\n')) {
    if (line.trim() === '') continue;
    const at = lines.findIndex(
      (candidate, index) =>
        index >= from && (candidate === line || candidate === addComma(line) || isImports(candidate, line)),
    );
    if (at < 0) return false;
    from = at + 1;
  }
  return true;
}

function addComma(line: string): string {
  return line.endsWith('\r') ? `${line.slice(0, -1)},\r` : `${line},`;
}

/** The one line whose list gets an element. */
function isImports(candidate: string, line: string): boolean {
  return line.trimStart().startsWith('imports') && candidate.trimStart().startsWith('imports');
}

test.skipIf(!hasCorpus)(`there are configurations to edit${ifSkipped}`, () => {
  expect(toml.length).toBeGreaterThan(24);
  expect(json.length).toBeGreaterThan(8);
});

test.skipIf(!hasCorpus).each(toml.map((sample) => [sample.name, sample] as const))(
  'edits keep every line of a real containerd configuration: %s',
  (name, { text }) => {
    const edited = applyEdits('toml', text, editsFor(text));
    if (!edited.ok) {
      // Their shape has no place for our keys: plugins is a string, imports is one.
      expect(edited.because, `${name}: ${edited.detail}`).toBe('edit_conflict');
      return;
    }
    expect(keepsLines(text, edited.text), edited.text).toBe(true);
    expect(applyEdits('toml', edited.text, editsFor(text))).toEqual(edited);
  },
);

test.skipIf(!hasCorpus).each(json.map((sample) => [sample.name, sample] as const))(
  'edits keep every line of a real daemon.json: %s',
  (_, { text }) => {
    const edit: KeyEdit = { op: 'set', path: ['runtimes', 'gpufleet-test'], value: { path: '/usr/bin/runtime' } };
    const edited = applyEdits('json', text, [edit]);
    if (!edited.ok) {
      expect(edited.because).toBe('edit_conflict');
      return;
    }
    if (text.trimEnd().includes('\n')) expect(keepsLines(text, edited.text), edited.text).toBe(true);
    expect(applyEdits('json', edited.text, [edit])).toEqual(edited);
  },
);
