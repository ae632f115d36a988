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

export function unread(because: string): { value: null; unreadable: Gap[] } {
  return { value: null, unreadable: [{ path: '', because }] };
}

export function below(prefix: string, gaps: readonly Gap[]): Gap[] {
  return gaps.map(({ path, because }) => ({ path: [prefix, path].filter((part) => part !== '').join('.'), because }));
}
