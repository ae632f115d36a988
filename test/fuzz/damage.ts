import fc from 'fast-check';

/** What stands where a value should be. */
export const words = [
  'N/A',
  '[N/A]',
  'ERR!',
  'Not Supported',
  '[Not Supported]',
  'GPU is lost',
  '[Unknown Error]',
  'Unknown Error',
  'Requested functionality has been deprecated',
  '',
];

/** The text as somebody would read UTF-16 who takes it for single bytes. */
function asUtf16(text: string): string {
  return `\u00ff\u00fe${[...text].join('\0')}\0`;
}

type Damage = (text: string) => string;

const place = fc.double({ min: 0, max: 1, noNaN: true });
const at = (text: string, where: number) => Math.floor(where * text.length);

/** One accident of a text. */
export const damage: fc.Arbitrary<Damage> = fc.oneof(
  place.map(
    (where): Damage =>
      (text) =>
        text.slice(0, at(text, where)),
  ),
  place.map(
    (where): Damage =>
      (text) =>
        text.slice(at(text, where)),
  ),
  fc.tuple(place, place).map(
    ([from, to]): Damage =>
      (text) =>
        text.slice(0, at(text, from)) + text.slice(at(text, to)),
  ),
  fc.constantFrom<Damage>(
    (text) => text + text,
    (text) => text.replaceAll('\n', '\r\n'),
    (text) => text.replaceAll('\n', '\r'),
    (text) => `\ufeff${text}`,
    asUtf16,
    (text) => text.replaceAll(/(\d)\.(\d)/g, '$1,$2'),
    (text) => text.replaceAll(' ', '\u00a0'),
    (text) => text.replaceAll('\n', ''),
    (text) => text.split('\n').reverse().join('\n'),
    (text) => text.toUpperCase(),
  ),
  fc.tuple(place, fc.string({ unit: 'binary', maxLength: 40 })).map(
    ([where, noise]): Damage =>
      (text) =>
        text.slice(0, at(text, where)) + noise + text.slice(at(text, where)),
  ),
  fc
    .tuple(
      place,
      fc.constantFrom('\0', '"', '<', '>', '&', '|', '{', '[', ':', '=', '\n', '-', '\t', '%', '\ud800', ...words),
    )
    .map(
      ([where, noise]): Damage =>
        (text) =>
          text.slice(0, at(text, where)) + noise + text.slice(at(text, where) + 1),
    ),
  fc.tuple(place, fc.constantFrom(...words, '12,5', '1e9', '0x1F', '-1', '9'.repeat(40), 'NaN', '1_000')).map(
    ([where, word]): Damage =>
      (text) =>
        replaceNumber(text, where, word),
  ),
);

/** Puts a word where a number of the text is. */
export function replaceNumber(text: string, where: number, word: string): string {
  const numbers = [...text.matchAll(/\d+(?:\.\d+)*/g)];
  const chosen = numbers[Math.min(numbers.length - 1, Math.floor(where * numbers.length))];
  if (chosen === undefined) return text;
  return text.slice(0, chosen.index) + word + text.slice(chosen.index + chosen[0].length);
}
