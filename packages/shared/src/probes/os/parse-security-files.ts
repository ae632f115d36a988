import type { OsFact } from './fact.ts';

/**
 * A UEFI variable of one byte: four bytes of attributes, then the value. All five are below 0x80 for the variables read
 * here, so that reading them as UTF-8 text loses nothing; anything else is null.
 */
export function parseEfiFlag(text: string): boolean | null {
  if (text.length !== 5 || text.includes('\uFFFD')) return null;
  const value = text.charCodeAt(4);
  return value === 1 ? true : value === 0 ? false : null;
}

/** `mokutil --sb-state`; shim may be told to check nothing although the firmware does. */
export function parseMokutil(text: string): boolean | null {
  if (/validation is disabled/i.test(text) || /^SecureBoot disabled/m.test(text)) return false;
  if (/does(?:n't| not) support Secure Boot/i.test(text)) return false;
  return /^SecureBoot enabled/m.test(text) ? true : null;
}

/** /sys/kernel/security/lockdown: `none [integrity] confidentiality`. */
export function parseLockdown(text: string): OsFact['lockdown'] {
  const chosen = /\[(none|integrity|confidentiality)\]/.exec(text)?.[1];
  return (chosen as OsFact['lockdown'] | undefined) ?? null;
}

export function parseSelinux(text: string): OsFact['selinux'] {
  const word = text.trim();
  return word === '1' ? 'enforcing' : word === '0' ? 'permissive' : null;
}

/** /proc/self/uid_map: the first namespace maps every id to itself. */
export function parseUidMap(text: string): boolean | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const [first] = lines;
  if (first === undefined || !/^\s*\d+\s+\d+\s+\d+\s*$/.test(first)) return null;
  return lines.length > 1 || !/^\s*0\s+0\s+4294967295\s*$/.test(first);
}

/** systemd's note of a scheduled shutdown: microseconds since 1970 and what is to be done. */
export function parseScheduledReboot(text: string): number | null {
  const mode = /^MODE=(\S+)$/m.exec(text)?.[1];
  const usec = /^USEC=(\d{1,17})$/m.exec(text)?.[1];
  return usec !== undefined && /^(reboot|kexec)$/.test(mode ?? '') ? Math.floor(Number(usec) / 1000) : null;
}
