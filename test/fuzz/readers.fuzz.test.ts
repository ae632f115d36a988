import { type ReaderName, readerNames, readers } from '@gpufleet/shared/probes';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { damage, replaceNumber, words } from './damage.ts';
import { examples } from './examples.ts';
import { changedLeaves, leavesOf, numbersIn } from './leaves.ts';
import { textParsers } from './parsers.ts';

/** `npm run fuzz` has more of them. */
const runs = Number(process.env.FUZZ_RUNS ?? 30);
const texts = await examples();
const parsers = await textParsers();

/** A number of forty digits is none that anything here counts. */
function isExact(leaf: number): boolean {
  return Number.isFinite(leaf) && Math.abs(leaf) <= Number.MAX_SAFE_INTEGER;
}

function isAnswer(read: unknown): void {
  expect(read).toEqual({
    value: expect.toSatisfy((value: unknown) => value !== undefined),
    unreadable: expect.any(Array),
  });
  const { value, unreadable } = read as { value: unknown; unreadable: unknown[] };
  for (const gap of unreadable) expect(gap).toEqual({ path: expect.any(String), because: expect.stringMatching(/./) });
  if (value === null) expect(unreadable).not.toEqual([]);
  for (const leaf of leavesOf(value).values()) if (typeof leaf === 'number') expect(leaf).toSatisfy(isExact);
}

describe.each(readerNames)('%s', (name) => {
  const text = texts[name];
  const read = readers[name];
  const whole = read(text);

  test('its example is read without a gap', () => {
    expect(whole.value).not.toBeNull();
    expect(whole.unreadable).toEqual([]);
  });

  test('answers whatever happened to the text, of its kind or not', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...readerNames),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        (other, damages) => {
          isAnswer(read(damages.reduce((damaged, harm) => harm(damaged), texts[name])));
          isAnswer(read(damages.reduce((damaged, harm) => harm(damaged), texts[other])));
        },
      ),
      { numRuns: runs },
    );
  });

  test('reads the same with a byte order mark and with CRLF', () => {
    expect(read(`\ufeff${text}`)).toEqual(whole);
    expect(read(text.replaceAll('\n', '\r\n'))).toEqual(whole);
    expect(read(`\ufeff${text.replaceAll('\n', '\r\n')}`)).toEqual(whole);
  });
});

/** A file that was cut is whole to anybody who reads it: its syntax has no end. A log's lines are told as they stand. */
const withoutEnd: readonly ReaderName[] = ['containerd', 'toolkit', 'k3s', 'kernel_log'];

test.each(readerNames.filter((name) => !withoutEnd.includes(name)))(
  '%s: a text that was cut gives nothing that the whole one does not',
  (name) => {
    const text = texts[name];
    const whole = readers[name](text).value;
    const step = Math.max(1, Math.floor(text.length / (runs * 6)));
    for (let end = 0; end < text.length; end += step) {
      const { value } = readers[name](text.slice(0, end));
      expect([end, changedLeaves(withoutTotals(value), whole)]).toEqual([end, []]);
    }
  },
);

/** What is counted or judged over the whole text is another thing for a part of it. */
function withoutTotals(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !['outcome', 'destroyed', 'reason'].includes(key)));
}

test.each(readerNames)('%s: a word in the place of a number gives no other number, and leaves the rest', (name) => {
  const text = texts[name];
  const whole = readers[name](text).value;
  const numbers = numbersIn(whole);
  // In a line of the kernel a comma stands between two parts, never inside a number.
  const places = [...text.matchAll(/\d+(?:\.\d+)*/g)].length;
  for (let at = 0; at < places; at += Math.max(1, Math.floor(places / (runs * 2))))
    for (const word of name === 'kernel_log' ? words : [...words, '12,5']) {
      const { value } = readers[name](replaceNumber(text, at / places, word));
      const strange = [...numbersIn(value)].filter((number) => !numbers.has(number));
      expect([at, word, strange]).toEqual([at, word, []]);
    }
});

test('elements, sections, fields and versions that nobody knows change nothing', () => {
  const xml = texts.smi_xml;
  const known = readers.smi_xml(xml);
  expect(readers.smi_xml(xml.replace(/v1\d\.dtd/, 'v99.dtd'))).toEqual(known);
  expect(
    readers.smi_xml(xml.replaceAll(/(<\/(?:pci|temperature|uuid)>)/g, '$1<new_part><total>5 MiB</total></new_part>')),
  ).toEqual(known);
  const q = texts.smi_q;
  expect(
    readers.smi_q(q.replaceAll('    Temperature\n', '    New Part\n        Total        : 5 MiB\n    Temperature\n')),
  ).toEqual(readers.smi_q(q));
  const csv = texts.smi_csv
    .replaceAll(/^/gm, (_, at: number) => (at === 0 ? 'new.part [MiB], ' : '5 MiB, '))
    .replace(/5 MiB, $/, '');
  expect((readers.smi_csv(csv).value as { gpus: unknown }).gpus).toEqual(
    (readers.smi_csv(texts.smi_csv).value as { gpus: unknown }).gpus,
  );
});

const laughs = Array.from({ length: 10 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');
const xmlTricks: [string, string][] = [
  ['billion laughs', `<!DOCTYPE nvidia_smi_log [<!ENTITY l0 "lol">${laughs}]>`],
  ['an external entity', '<!DOCTYPE nvidia_smi_log [<!ENTITY l10 SYSTEM "file:///etc/passwd">]>'],
  ['a parameter entity', '<!DOCTYPE nvidia_smi_log [<!ENTITY % p SYSTEM "http://example.com/x"> %p; ]>'],
];

test.each(xmlTricks)('no entity is ever read: %s', (_, doctype) => {
  const body =
    '<nvidia_smi_log><driver_version>&l10;</driver_version><attached_gpus>1</attached_gpus></nvidia_smi_log>';
  for (const text of [doctype + body, body.replace('>', `>${doctype}`)]) {
    const read = readers.smi_xml(`<?xml version="1.0" ?>${text}`);
    isAnswer(read);
    expect(JSON.stringify(read)).not.toMatch(/lol|root:/);
    expect(JSON.stringify(read).length).toBeLessThan(500);
  }
});

test('a kernel log that was cut tells no other process, number or address', () => {
  type Log = { events: { kind: string; xid: unknown; pid: unknown; process: unknown; address: unknown }[] };
  const read = (text: string) => (readers.kernel_log(text).value as Log | null)?.events ?? [];
  const whole = read(texts.kernel_log);
  for (let end = 0; end < texts.kernel_log.length; end += 1)
    for (const [at, event] of read(texts.kernel_log.slice(0, end)).entries())
      for (const part of ['xid', 'pid', 'process', 'address'] as const)
        expect([end, part, event[part]]).toEqual([end, part, expect.toBeOneOf([null, whole[at]?.[part]])]);
});

const bombs: [string, string][] = [
  ['lists in lists', '- '.repeat(20_000)],
  ['keys that are lists', '? '.repeat(1_500)],
  ['keys that are maps', `${'{? '.repeat(100)}a${'}'.repeat(100)}`],
  ['maps in maps on one line', 'a: '.repeat(20_000)],
  ['marks and lists', '- !a '.repeat(20_000)],
  ['steps of one blank', Array.from({ length: 700 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('')],
  [
    'names of names',
    `a: &a0 x\n${Array.from({ length: 5_000 }, (_, at) => `b${at}: &a${at + 1} [*a${at}]\n`).join('')}`,
  ],
  [
    'laughs',
    `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]\n`).join('')}`,
  ],
  ['brackets closed in texts only', '["]", '.repeat(20_000)],
  ['a key of many parts', `${'a.'.repeat(50_000)}a = 1\n`],
  ['a table of many parts', `[${'a.'.repeat(50_000)}a]\n`],
  ['tables in tables', `a = ${'{a='.repeat(400)}1${'}'.repeat(400)}`],
];

test.each(bombs)('a bomb of YAML, TOML or JSON is refused or read, by everything: %s', (_, text) => {
  for (const name of readerNames) isAnswer(readers[name](text));
  for (const { parse } of parsers) expect(() => parse(text)).not.toThrow();
});

test.each(parsers.map((parser) => [parser.name, parser] as const))('%s never throws', (_, { parse }) => {
  const all = Object.values(texts);
  fc.assert(
    fc.property(
      fc.constantFrom(...all, 'A=1\nB="2"\n', 'a: b\n', '[a]\nb = 1\n'),
      fc.array(damage, { maxLength: 2 }),
      (text, damages) => {
        expect(() => parse(damages.reduce((damaged, harm) => harm(damaged), text))).not.toThrow();
      },
    ),
    { numRuns: Math.ceil(runs / 3) },
  );
});
