import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const probes = fileURLToPath(new URL('../../packages/shared/src/probes/', import.meta.url));

/** What a parser takes after the text. */
const more: Record<string, unknown[]> = {
  parseRpmList: [() => false],
  parseKubeletFlag: ['--node-ip'],
};

/** They take what another parser has made of a text: its words, or the texts of several files. */
const givenAs: Record<string, (text: string) => unknown[]> = {
  'containerd/parseContainerdOptions': (text) => [text.split(' ')],
  'containerd/parseExecStart': (text) => [[text, text]],
  'docker/parseDockerdFlags': (text) => [text.split(' ').map((word) => ({ word, file: '/a' }))],
  'docker/parseStartCommand': (text) => [[{ file: '/a', text }], [{ file: '/b', text }]],
};

export interface TextParser {
  name: string;
  parse(text: string): unknown;
}

/** Every exported `parse…` of every `parse-….ts` below the probes: a new one is tried as it is. */
export async function textParsers(): Promise<TextParser[]> {
  const files = readdirSync(probes, { recursive: true, withFileTypes: true })
    .filter(({ name }) => /^parse-.*\.ts$/.test(name) && !name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const found: TextParser[] = [];
  for (const file of files) {
    const module = (await import(file)) as Record<string, unknown>;
    for (const [name, parse] of Object.entries(module)) {
      if (!/^parse[A-Z]/.test(name) || typeof parse !== 'function') continue;
      const call = parse as (...given: unknown[]) => unknown;
      const fullName = `${basename(dirname(file))}/${name}`;
      const given = givenAs[fullName] ?? ((text) => [text, ...(more[name] ?? [])]);
      found.push({ name: fullName, parse: (text) => call(...given(text)) });
    }
  }
  return found;
}
