import { type ReaderName, readerNames, readers } from '@gpufleet/shared/probes';
import { describe, expect, test } from 'vitest';
import { examples } from './examples.ts';
import { textParsers } from './parsers.ts';

const texts = await examples();
const parsers = await textParsers();
const fiftyMegabytes = 50_000_000;
/** `npm run fuzz` tries everything with everything, and longer texts. */
const thorough = process.env.FUZZ_RUNS !== undefined;

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

/** Looks once at every character: what reading the text costs at least. */
function readOnce(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}

/** Of the processor, not of the clock: others may work here too. */
function timeMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
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
  'maps in lists': '- a: b\n',
  'maps of YAML on one line': '{a: 1}\n',
  'words of a failure': 'GPU access blocked, libnvidia-ml.so ',
  'words of a kernel log': 'NVRM: loading NVIDIA UNIX Kernel Module infoROM API mismatch: version 1.1 ',
  'words of a driver': 'Kernel Module for ',
};

const forEveryReader = thorough ? Object.keys(pieces) : ['line ends', 'one word', 'open elements'];
const largeTexts: [string, string, readonly ReaderName[]][] = [
  ...forEveryReader.map((name): [string, string, readonly ReaderName[]] => [name, pieces[name] ?? '', readerNames]),
  ...readerNames.map((name): [string, string, readonly ReaderName[]] => [
    `the example of ${name}`,
    texts[name],
    thorough ? readerNames : [name],
  ]),
];

describe('fifty megabytes', () => {
  const onceMs = Math.max(
    20,
    timeMs(() => readOnce(repeated('x', fiftyMegabytes))),
  );

  test.each(largeTexts)('of %s cost a reader no more than reading them some times', (_, piece, names) => {
    const text = repeated(piece, fiftyMegabytes);
    readOnce(text);
    for (const name of names) {
      let read: { value: unknown; unreadable: unknown[] } = { value: null, unreadable: [] };
      const tookMs = timeMs(() => {
        read = readers[name](text);
      });
      expect(read.unreadable).toEqual(expect.any(Array));
      expect([name, tookMs / onceMs]).toEqual([name, expect.toSatisfy((ratio: number) => ratio < 100)]);
    }
  });
});

/** Time must grow with the length, not with its square; short times say nothing. */
function expectLinear(name: string, run: (text: string) => unknown, piece: string, length: number): void {
  const short = repeated(piece, length / 8);
  const long = repeated(piece, length);
  const longMs = timeMs(() => run(long));
  if (longMs < 300) return;
  const shortMs = timeMs(() => run(short));
  expect([name, Math.round(longMs), Math.round(shortMs)]).toEqual([
    name,
    expect.toSatisfy(() => longMs < 24 * Math.max(shortMs, 1)),
    expect.anything(),
  ]);
}

/** Eight times the length takes eight times as long, and sixty-four times as long where something is squared. */
const length = thorough ? 200_000 : 30_000;

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
