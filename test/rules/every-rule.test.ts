import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rules } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';

const texts = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts') && name !== 'every-rule.test.ts')
  .map((name) => ({ name, text: readFileSync(join(import.meta.dirname, name), 'utf8') }));

test.each([...new Set(rules.map(({ code }) => code))])(
  '%s is tested on recorded hosts, in a file of its name',
  (code) => {
    const file = code.toLowerCase().replaceAll('_', '-');
    const own = texts.filter(({ name, text }) => name.startsWith(file) && text.includes(`'${code}'`));
    expect(own.map(({ name }) => name)).not.toEqual([]);
    for (const { text } of own) expect(text).toMatch(/observeChanged\(|observed?[A-Z]\w*\(/);
  },
);
