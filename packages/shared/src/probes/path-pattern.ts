/** `*` stands for one path segment or a part of it, as in the inputs that a probe declares. */
export function matchesPattern(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length && wanted.every((segment, depth) => matchesSegment(segment, given[depth] ?? ''))
  );
}

export function matchesSegment(pattern: string, name: string): boolean {
  const pieces = pattern.split('*');
  if (pieces.length === 1) return pattern === name;
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let from = first.length;
  const end = name.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, from);
    if (found < 0 || found + piece.length > end) return false;
    from = found + piece.length;
  }
  return true;
}
