/**
 * Go's `filepath.Match` for one path segment, with which containerd expands its imports: `*`, `?`, `[a-z]`, `[^a-z]` and
 * a backslash before a character that stands for itself. A pattern that is not closed matches nothing.
 */
export function matchesGlob(pattern: string, name: string): boolean {
  const tokens = tokensOf(pattern);
  if (tokens === null) return false;
  const characters = [...name];
  // One star is remembered at a time: what an earlier one took need never be taken back.
  let [at, token, star, taken] = [0, 0, -1, 0];
  while (at < characters.length) {
    const wanted = tokens[token];
    if (wanted === 'any') {
      star = token;
      taken = at;
      token += 1;
    } else if (wanted?.(characters[at] ?? '')) {
      at += 1;
      token += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === 'any');
}

type Token = 'any' | ((character: string) => boolean);

function tokensOf(pattern: string): Token[] | null {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') tokens.push('any');
    else if (character === '?') tokens.push(() => true);
    else if (character === '[') {
      const end = characters.indexOf(']', at + (characters[at + 1] === '^' ? 3 : 2));
      if (end < 0) return null;
      tokens.push(classOf(characters.slice(at + 1, end)));
      at = end;
    } else {
      if (character === '\\') at += 1;
      const literal = characters[at];
      if (literal === undefined) return null;
      tokens.push((given) => given === literal);
    }
  }
  return tokens;
}

function classOf(inside: string[]): (character: string) => boolean {
  const negated = inside[0] === '^';
  const members = negated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] ?? '';
    const high = members[at + 1] === '-' ? members[at + 2] : undefined;
    ranges.push([low, high ?? low]);
    if (high !== undefined) at += 2;
  }
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== negated;
}
