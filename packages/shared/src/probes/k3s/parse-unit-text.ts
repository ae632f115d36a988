import { plainText } from '../parsed.ts';

/** Words of the last ExecStart of a unit file, its continued lines joined; empty: there is none. */
export function parseExecStart(given: string): string[] {
  const text = plainText(given);
  if (text === null) return [];
  const joined = text.replace(/\\\r?\n/g, ' ');
  let command = '';
  for (const line of joined.split(/\r?\n/)) {
    const stated = /^ExecStart=(.*)$/.exec(line)?.[1];
    if (stated !== undefined) command = stated;
  }
  return (command.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

/** `--flag value` or `--flag=value`, the last one; a flag without a value is an empty text. */
export function flagOf(words: readonly string[], ...names: string[]): string | null {
  let found: string | null = null;
  for (const [place, word] of words.entries()) {
    for (const name of names) {
      if (word.startsWith(`${name}=`)) found = word.slice(name.length + 1);
      else if (word === name) {
        const next = words[place + 1];
        found = next === undefined || next.startsWith('-') ? '' : next;
      }
    }
  }
  return found;
}

/** One variable of an environment file; these files hold tokens, so nothing else of them is kept. */
export function variableOf(given: string, name: string): string | null {
  const text = plainText(given);
  if (text === null) return null;
  let found: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const equals = line.indexOf('=');
    if (equals > 0 && line.slice(0, equals).trim() === name)
      found = line
        .slice(equals + 1)
        .trim()
        .replace(/^(["'])(.*)\1$/, '$2');
  }
  return found || null;
}
