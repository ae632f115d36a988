/** /proc/self/uid_map: outside of any user namespace every user is mapped to itself. null: not such a map. */
export function parseUidMap(text: string): boolean | null {
  const rows = [...text.slice(0, 10_000).matchAll(/^[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]*$/gm)].map((row) =>
    row.slice(1).map(Number),
  );
  if (rows.length === 0) return null;
  return !(rows.length === 1 && rows[0]?.[0] === 0 && rows[0][1] === 0 && rows[0][2] === 4_294_967_295);
}
