import { isDeepStrictEqual } from 'node:util';
import type { MappedKey } from './expectation-map.ts';

export interface Answer {
  value: unknown;
  unreadable: readonly { path: string; because: string }[];
}

/** Every value at a place, with `*` for each element. A place that is not there gives nothing. */
export function valuesAt(root: unknown, place: string): unknown[] {
  const parts = place
    .replace(/\[([^\]]+)\]/g, (_, key: string) => `.${key.replaceAll('.', '\0')}`)
    .split('.')
    .map((part) => part.replaceAll('\0', '.'));
  return parts.reduce<unknown[]>(
    (found, part) =>
      found.flatMap((here) => {
        if (here === null || typeof here !== 'object') return [];
        if (part === '*') return Array.isArray(here) ? here : [];
        return Object.hasOwn(here, part) ? [(here as Record<string, unknown>)[part]] : [];
      }),
    [root],
  );
}

/** What differs, in one line each; empty when the answer is as expected. */
export function differences(expected: Record<string, unknown>, keys: readonly MappedKey[], answer: Answer): string[] {
  const said = keys.flatMap((mapped) =>
    expectationsOf(expected, mapped).flatMap(({ name, wanted, place }) => {
      const got = judge(wanted, { ...mapped, place }, answer);
      return got === null ? [] : [`${name}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`];
    }),
  );
  const known = new Set(keys.map(({ key }) => key));
  const unknown = leavesOf(expected).filter((leaf) => ![leaf, `${leaf}.*`].some((key) => known.has(key)));
  return [...said, ...unknown.map((key) => `${key}: docs/reading-samples.md does not say where this is`)];
}

/** The keys of an expectation as the page writes them: `gpus.*.name`, `mig.1g.12gb`, `runtimes`. */
function leavesOf(expected: Record<string, unknown>): string[] {
  const leaves = Object.entries(expected).flatMap(([key, value]) => {
    if (Array.isArray(value)) {
      const objects = value.filter((item: unknown) => item !== null && typeof item === 'object');
      return objects.length === 0
        ? [key]
        : objects.flatMap((item: object) => Object.keys(item).map((inner) => `${key}.*.${inner}`));
    }
    return value !== null && typeof value === 'object' ? Object.keys(value).map((inner) => `${key}.${inner}`) : [key];
  });
  return [...new Set(leaves)];
}

interface Expectation {
  name: string;
  wanted: unknown;
  place: string;
}

/** One expectation for each element that states the key: elements need not all state it. */
function expectationsOf(expected: Record<string, unknown>, { key, place }: MappedKey): Expectation[] {
  const star = key.indexOf('.*');
  if (star < 0) {
    const [outer = '', ...inner] = key.split('.');
    if (!Object.hasOwn(expected, outer)) return [];
    if (inner.length === 0) {
      const wanted = expected[outer];
      // A list of objects or pairs is compared by its elements' keys.
      const byElements = Array.isArray(wanted) && wanted.some((item) => item !== null && typeof item === 'object');
      return byElements ? [] : [{ name: key, wanted, place }];
    }
    const nested = (expected[outer] as Record<string, unknown> | null)?.[inner.join('.')];
    return nested === undefined ? [] : [{ name: key, wanted: nested, place }];
  }
  const list = expected[key.slice(0, star)];
  if (!Array.isArray(list)) return [];
  const inner = key.slice(star + 3);
  return list.flatMap((item: unknown, index) => {
    const wanted = inner === '' ? item : (item as Record<string, unknown>)[inner];
    if (wanted === undefined) return [];
    return [{ name: key.replace('*', String(index)), wanted, place: ofElement(place, index) }];
  });
}

/** Reasons are one list for the whole answer, not one for each element. */
function ofElement(place: string, index: number): string {
  return place.startsWith('unreadable') ? place : place.replace('*', String(index));
}

/** null: as expected; else what was found. */
function judge(wanted: unknown, { place, comparison }: MappedKey, answer: Answer): unknown {
  const values = valuesAt(place.startsWith('unreadable') ? answer : answer.value, place);
  const one = place.includes('*') ? values : (values[0] ?? null);
  const [how = '', ...pairs] = comparison.split(' ');
  const equal = (got: unknown, to: unknown = wanted) => (isDeepStrictEqual(got, to) ? null : { got });
  switch (how) {
    case 'same':
      return equal(one);
    case 'sorted':
      return equal([...values.flat()].sort(), [...(wanted as unknown[])].sort());
    case 'distinct':
      return equal([...new Set(values.flat())].sort(), [...new Set(wanted as unknown[])].sort());
    case 'count':
      return equal(values.length);
    case 'every':
      return values.every((value) => isDeepStrictEqual(likeExpected(value, wanted), wanted)) ? null : { values };
    case 'number':
      return equal(one === null ? null : Number(one));
    case 'quantity':
      return equal(one === null ? null : `${String(one)} ${String(wanted).split(' ')[1]}`);
    case 'words': {
      const words = new Map(pairs.map((pair) => pair.split('=') as [string, string]));
      const found = words.get(String(wanted).replaceAll(' ', '_')) ?? wanted;
      const word = found === 'null' ? null : found;
      return (place.includes('*') ? values.includes(word) : isDeepStrictEqual(one, word)) ? null : { one };
    }
    case 'within':
      return values.some((value) => String(value).toLowerCase().includes(String(wanted).toLowerCase()))
        ? null
        : { values };
    case 'some':
      return values.length > 0 ? null : { values };
    case 'verdict':
      return equal(verdictOf(wanted, answer));
    case 'not':
      return null;
    default:
      return { unknownComparison: comparison };
  }
}

/** `every` compares with one expected value: a list stands for its length, a mode for its printed word. */
function likeExpected(value: unknown, wanted: unknown): unknown {
  if (Array.isArray(value) && typeof wanted === 'number') return value.length;
  if (value === 'enabled' || value === 'disabled') return value === 'enabled' ? 'Enabled' : 'Disabled';
  return value;
}

function verdictOf(wanted: unknown, { value, unreadable }: Answer): unknown {
  if (value === null) return unreadable[0]?.because.startsWith('template') ? 'template' : false;
  // A word of the corpus for "it parses, and something in it is wrong".
  return unreadable.length > 0 && typeof wanted === 'string' ? wanted : true;
}
