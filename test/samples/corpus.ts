import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A corpus of captured outputs; it is not part of the repository. */
export const corpus = process.env.GPUFLEET_SAMPLES;
export const hasCorpus = corpus !== undefined;
/** For the title of what is then skipped. */
export const ifSkipped = hasCorpus ? '' : ' (skipped: GPUFLEET_SAMPLES names no corpus of captured outputs)';

export interface Capture {
  file: string;
  kind: string;
  expect: Record<string, unknown>;
  text: string;
}

export function readCaptures(): Capture[] {
  if (corpus === undefined) return [];
  const folder = join(corpus, 'captures');
  const [head = '', ...lines] = readFileSync(join(folder, 'INDEX.tsv'), 'utf8').trimEnd().split('\n');
  const column = (row: string[], name: string) => row[head.split('\t').indexOf(name)] ?? '';
  return lines.map((line) => {
    const row = line.split('\t');
    const file = column(row, 'file');
    const expect = JSON.parse(column(row, 'expect') || '{}') as Record<string, unknown>;
    return { file, kind: column(row, 'kind'), expect, text: readFileSync(join(folder, file), 'utf8') };
  });
}
