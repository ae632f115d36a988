import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const probes = fileURLToPath(new URL('../../packages/shared/src/probes/', import.meta.url));

/** What a parser takes after the text. */
const more: Record<string, unknown[]> = {
  parseRpmList: [() => false],
  parseKubeletFlag: ['--node-ip'],
};

/** They take what another parser has made of a text. */
const notOfText = new Set(['parseStartCommand', 'parseDockerdFlags']);

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
      if (!name.startsWith('parse') || typeof parse !== 'function' || notOfText.has(name)) continue;
      const call = parse as (text: string, ...rest: unknown[]) => unknown;
      found.push({
        name: `${basename(dirname(file))}/${name}`,
        parse: (text) => call(text, ...(more[name] ?? [])),
      });
    }
  }
  return found;
}
