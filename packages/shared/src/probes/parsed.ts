/** A part that could not be read: where in the value (dotted; empty = the whole) and why. */
export interface Gap {
  path: string;
  because: string;
}

/** What a pure reader made of a text: null when nothing could be read, and the reason for every null that is trouble. */
export interface Parsed<T> {
  value: T | null;
  unreadable: Gap[];
}

/** No output of a tool that is read line by line comes near it. */
const longestText = 2_000_000;

/** The text that a line reader is to read: without a byte order mark; null when it is too long for any such output. */
export function plainText(text: string): string | null {
  return text.length > longestText ? null : text.replace(/^\uFEFF/, '');
}

export function unread(because: string): { value: null; unreadable: Gap[] } {
  return { value: null, unreadable: [{ path: '', because }] };
}

/** Programs and the kernel end every line: a text that ends within one was cut, and what is missing is not known. */
export function isCut(text: string): boolean {
  return text !== '' && !text.endsWith('\n');
}

/** No gap without a reason. */
export function gapOf(path: string, because: string | null): Gap[] {
  return because === null ? [] : [{ path, because }];
}

export function below(prefix: string, gaps: readonly Gap[]): Gap[] {
  return gaps.map(({ path, because }) => ({ path: [prefix, path].filter((part) => part !== '').join('.'), because }));
}
