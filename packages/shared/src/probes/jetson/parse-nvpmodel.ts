import type { PowerMode } from './fact.ts';

/** /var/lib/nvpmodel/status: `pmode:0002`, on older releases with more words behind it. */
export function parsePowerModeId(text: string): number | null {
  const digits = /\bpmode:\s*(\d{1,6})\b/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Lines like `< POWER_MODEL ID=0 NAME=MAXN >` of /etc/nvpmodel.conf; the first of one id counts. */
export function parsePowerModes(text: string): PowerMode[] {
  const modes = new Map<number, PowerMode>();
  for (const [, digits, name = ''] of text.matchAll(
    /^[ \t]*<[ \t]*POWER_MODEL[ \t]+ID=(\d{1,6})[ \t]+NAME=([^\s>]{1,64})/gm,
  )) {
    const id = Number(digits);
    if (!modes.has(id)) modes.set(id, { id, name });
  }
  return [...modes.values()];
}
