import { readerNames, readers } from '@gpufleet/shared/probes';
import { describe, expect, test } from 'vitest';
import { examples } from './examples.ts';
import { textParsers } from './parsers.ts';

const texts = await examples();
const parsers = await textParsers();
const fiftyMegabytes = 50_000_000;

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** Looks once at every character: what reading the text costs at least. */
function readOnce(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}

function timeMs(work: () => unknown): number {
  const startedAtMs = performance.now();
  work();
  return performance.now() - startedAtMs;
}

/** Pieces that bring the worst out of expressions and parsers. */
const pieces: Record<string, string> = {
  blanks: ' ',
  'line ends': '\n',
  'one word': 'x',
  digits: '7',
  quotes: '"',
  'opening brackets': '[',
  'deep JSON': '{"a":',
  'deep YAML': '- ',
  'deep YAML maps': '? a\n',
  'open elements': '<gpu id="1"><pci>',
  'rows of a table': '|   0  NVIDIA A30   On | 0000000F:01:00.0 N/A |    N/A |\n',
  'unfinished rows': '|   0  a    ',
  'labels without values': '    Total    \n',
  'values of a report': '        Total      : 5 MiB\n',
  commas: ', ',
  assignments: 'key = 1\n',
  'tables of TOML': '[[a.b]]\n',
  'arrays of TOML': 'a = [1, 2, [3]]\n',
  'aliases of YAML': 'a: &a [*a]\n',
  'packages of dpkg': 'Package: nvidia-l4t-core\nStatus: ok\n',
  entities: '&amp;',
};

describe('fifty megabytes', () => {
  const onceMs = Math.max(
    10,
    timeMs(() => readOnce(repeated('x', fiftyMegabytes))),
  );

  test.each([
    ...Object.entries(pieces),
    ...Object.entries(texts).map(([name, text]) => [`example of ${name}`, text] as const),
  ])('of %s cost no reader more than reading them a few times', (_, piece) => {
    const text = repeated(piece, fiftyMegabytes);
    readOnce(text);
    for (const name of readerNames) {
      let read: { value: unknown; unreadable: unknown[] } = { value: null, unreadable: [] };
      const tookMs = timeMs(() => {
        read = readers[name](text);
      });
      expect(read.unreadable).toEqual(expect.any(Array));
      expect([name, tookMs / onceMs]).toEqual([name, expect.toSatisfy((ratio: number) => ratio < 20)]);
    }
  });
});

/** Time must grow with the length, not with its square; short times say nothing. */
function expectLinear(name: string, run: (text: string) => unknown, piece: string, length: number): void {
  const short = repeated(piece, length / 8);
  const long = repeated(piece, length);
  const longMs = timeMs(() => run(long));
  if (longMs < 400) return;
  const shortMs = timeMs(() => run(short));
  expect([name, Math.round(longMs), Math.round(shortMs)]).toEqual([
    name,
    expect.toSatisfy(() => longMs < 24 * Math.max(shortMs, 1)),
    expect.anything(),
  ]);
}

/** Eight times the length takes eight times as long, and sixty-four times as long where something is squared. */
const length = 100_000;

test.each(Object.entries(pieces))('the time of every reader and parser grows with the text: %s', (_, piece) => {
  for (const name of readerNames) expectLinear(name, readers[name], piece, length);
  for (const { name, parse } of parsers) expectLinear(name, parse, piece, length);
});

test('a long report of many GPUs is read in a time that grows with it', () => {
  const gpu = /\t<gpu id[\s\S]*?<\/gpu>\n/.exec(texts.smi_xml)?.[0] ?? '';
  const report = (count: number) => `<nvidia_smi_log>\n${gpu.repeat(count)}</nvidia_smi_log>\n`;
  const few = Math.max(
    1,
    timeMs(() => readers.smi_xml(report(25))),
  );
  expect(timeMs(() => readers.smi_xml(report(200)))).toBeLessThan(24 * few);
});
