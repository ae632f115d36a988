import type { Gap } from '../parsed.ts';
import { isTree, type Tree } from '../values.ts';
import { parseSmiValue } from './parse-smi-value.ts';
import { decodeEntities } from './read-smi-xml-tree.ts';

/** Reads the leaves of one element; what should have been there and was not is told to `gaps`. */
export interface SmiElement {
  text(name: string, path: string): string | null;
  number(unit: string, name: string, path: string): number | null;
  integer(name: string, path: string): number | null;
  /** Something is printed for it, be it only that it could not be read. */
  states(name: string): boolean;
  /** Two words for true and false, as printed. */
  choice(words: { true: string; false: string }, name: string, path: string): boolean | null;
  child(...names: string[]): SmiElement;
  list(name: string): SmiElement[];
  /** Names of direct children with exactly this text. */
  childrenThatSay(text: string): string[];
  attribute(name: string): string | null;
  /** Any leaf below says exactly this. */
  anywhere(text: string): boolean;
}

function says(tree: unknown, text: string): boolean {
  if (typeof tree === 'string') return tree.trim().toLowerCase() === text;
  if (Array.isArray(tree)) return tree.some((item) => says(item, text));
  return isTree(tree) && Object.values(tree).some((item) => says(item, text));
}

function leafOf(tree: Tree, name: string): string | undefined {
  const found = Object.hasOwn(tree, name) ? tree[name] : undefined;
  const first = Array.isArray(found) ? (found[0] as unknown) : found;
  return typeof first === 'string' ? decodeEntities(first) : undefined;
}

export function smiElement(source: unknown, gaps: Gap[]): SmiElement {
  const tree: Tree = isTree(source) ? source : {};
  const text: SmiElement['text'] = (name, path) => {
    const value = parseSmiValue(leafOf(tree, name));
    if (value.at === 'trouble') gaps.push({ path, because: value.because });
    return value.at === 'given' ? value.text : null;
  };
  const number: SmiElement['number'] = (unit, name, path) => {
    const given = text(name, path);
    if (given === null) return null;
    const match = /^([+-]?\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z%][A-Za-z%/()]*)?$/.exec(given);
    if (match && (match[2] ?? '') === unit) return Number(match[1]);
    gaps.push({ path, because: 'unexpected_text' });
    return null;
  };
  return {
    text,
    number,
    integer(name, path) {
      const given = number('', name, path);
      if (given === null || Number.isSafeInteger(given)) return given;
      gaps.push({ path, because: 'unexpected_text' });
      return null;
    },
    states: (name) => parseSmiValue(leafOf(tree, name)).at !== 'not_given',
    choice(words, name, path) {
      const given = text(name, path);
      if (given === words.true) return true;
      if (given === words.false) return false;
      if (given !== null) gaps.push({ path, because: 'unexpected_text' });
      return null;
    },
    child(...names) {
      const present = names.find((name) => Object.hasOwn(tree, name) && isTree(tree[name]));
      return smiElement(present === undefined ? {} : tree[present], gaps);
    },
    list(name) {
      const found = Object.hasOwn(tree, name) ? tree[name] : undefined;
      return Array.isArray(found) ? found.map((item) => smiElement(item, gaps)) : [];
    },
    childrenThatSay: (wanted) => Object.keys(tree).filter((name) => leafOf(tree, name) === wanted),
    attribute: (name) => leafOf(tree, `@${name}`) || null,
    anywhere: (wanted) => says(tree, wanted),
  };
}
