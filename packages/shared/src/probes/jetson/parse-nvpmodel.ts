import type { PowerMode } from './fact.ts';

/** /var/lib/nvpmodel/status: `pmode:0002`, on older releases with more words behind it. */
export function parsePowerModeId(text: string): number | null {
  const digits = /\bpmode:\s*(\d{1,6})\b/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** `nvpmodel -q`: `NV Power Mode: MODE_30W`, on a line of its own the number; warnings may stand around them. */
export function parsePowerModeQuery(text: string): { id: number; name: string | null } | null {
  const found = /^NV Power Mode:[ \t]*(\S{1,64})[ \t]*\r?\n[ \t]*(\d{1,6})[ \t]*\r?$/m.exec(text);
  return found === null ? null : { id: Number(found[2]), name: found[1] ?? null };
}

const mostModes = 200;

/** Lines like `< POWER_MODEL ID=0 NAME=MAXN >` of /etc/nvpmodel.conf; the first of one id counts. */
export function parsePowerModes(text: string): PowerMode[] {
  const modes = new Map<number, PowerMode>();
  let current: PowerMode | null = null;
  for (const line of text.split('\n')) {
    const [, digits, name = ''] =
      /^[ \t]*<[ \t]*POWER_MODEL[ \t]+ID=(\d{1,6})[ \t]+NAME=([^\s>]{1,64})/.exec(line) ?? [];
    if (digits !== undefined) {
      const isNew = !modes.has(Number(digits)) && modes.size < mostModes;
      current = isNew ? { id: Number(digits), name } : null;
      if (current) modes.set(current.id, current);
      continue;
    }
    if (/^[ \t]*</.test(line)) current = null;
    const gate = /^[ \t]*\w{1,40}_POWER_GATING[ \t]+(\w{1,40})[ \t]+(\S{1,20})/.exec(line);
    if (current && gate) current.gating = [current.gating, `${gate[1]} ${gate[2]}`].filter((part) => part).join('; ');
  }
  return [...modes.values()];
}
