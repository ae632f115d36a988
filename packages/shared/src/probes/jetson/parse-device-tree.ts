/** Device-tree strings end with NUL; a list of them is parted by NUL. */
export function parseDeviceTreeStrings(text: string): string[] {
  return text
    .split('\0')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Newest chip of a `compatible` list, which goes from the board to the chip: `nvidia,p3701-0000`, `nvidia,tegra234`. */
export function parseSoc(compatible: string): string | null {
  const chips = [...compatible.matchAll(/nvidia,(tegra(\d{2,4}))\b/g)];
  return chips.sort((a, b) => Number(b[2]) - Number(a[2]))[0]?.[1] ?? null;
}
