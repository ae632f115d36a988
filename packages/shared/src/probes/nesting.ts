import { Lexer } from 'yaml';

/** Deeper than any configuration; the parsers, and whatever walks the value, would run out of stack or of time. */
export const deepest = 500;

/** By brackets alone: those inside texts count too, and no configuration has so many of them that are not closed. */
export function hasDeepBrackets(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > deepest) return true;
  }
  return false;
}

/** More than any file that a program wrote or a person keeps. */
const deepestYaml = 200;
const mostAliases = 100;

/**
 * YAML nests without brackets too: by columns, and by the signs `-`, `?` and `:` on one line. Its parser calls itself
 * for each level, and an expression that is first used where the stack ends takes the whole process with it.
 */
export function isTooDeepYaml(text: string): boolean {
  let flow = 0;
  let aliases = 0;
  let onLine = 0;
  let leading = true;
  for (const token of new Lexer().lex(text)) {
    if (token === '\n' || token === '\r\n') [onLine, leading] = [0, true];
    else if (token === '[' || token === '{') flow += 1;
    else if (token === ']' || token === '}') flow = Math.max(0, flow - 1);
    else if (flow === 0 && (token === '-' || token === '?' || token === ':')) onLine += 1;
    else if (leading && /^[ \t]*$/.test(token)) onLine += token.length;
    else leading = false;
    if (token.startsWith('*')) aliases += 1;
    if (flow + onLine > deepestYaml || aliases > mostAliases) return true;
  }
  return false;
}

/** What holds itself is deeper than anything. Level by level: nothing here runs out of stack. */
export function isTooDeepValue(value: unknown): boolean {
  let level = new Set<unknown>([value]);
  for (let depth = 0; level.size > 0; depth += 1) {
    if (depth > deepest) return true;
    const next = new Set<unknown>();
    for (const here of level)
      if (here !== null && typeof here === 'object')
        for (const inner of Object.values(here)) if (inner !== null && typeof inner === 'object') next.add(inner);
    level = next;
  }
  return false;
}
