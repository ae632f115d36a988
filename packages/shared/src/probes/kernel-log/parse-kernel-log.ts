import { type Gap, type Parsed, unread } from '../parsed.ts';
import type { KernelLogFact } from './fact.ts';
import { createKernelLogFold } from './fold-kernel-log.ts';

/** Of a longer text only the end is read: the newest lines say what is so now. */
const longestText = 16_000_000;

/** What dmesg and journalctl say instead of a log. */
export function logRefusal(text: string): string | null {
  if (
    /read kernel buffer failed|insufficient permissions|not seeing messages from other users|Operation not permitted/i.test(
      text,
    )
  )
    return 'denied';
  if (/No journal files were found|No journal boot entry found|Failed to look up boot/i.test(text)) return 'no_journal';
  return null;
}

/** A kernel log in any of the layouts that dmesg, journalctl, syslog and /dev/kmsg have. Never throws. */
export function parseKernelLog(text: string): Parsed<KernelLogFact> {
  const gaps: Gap[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  if (text.length > longestText) {
    at = text.indexOf('\n', text.length - longestText) + 1;
    gaps.push({ path: 'events', because: 'too_large' });
  }
  const fold = createKernelLogFold();
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const next = end < 0 ? text.length : end;
    if (next > at) fold.line(end < 0 ? withoutHalf(text.slice(at)) : text.slice(at, next));
    at = next + 1;
  }
  const { events, beginsAtBoot, lines, gaps: lost } = fold.end();
  if (lines <= 3 && events.length === 0) {
    const refused = logRefusal(text.slice(0, 2_000));
    if (refused !== null) return unread(refused);
  }
  if (lines === 0 || /^-- No entries --\s*$/.test(text.slice(0, 40))) return unread('empty');
  return { value: { events, from: null, beginsAtBoot }, unreadable: [...gaps, ...lost] };
}

/** A number or a name where a log was cut could be the beginning of another; names of processes can hold blanks. */
function withoutHalf(line: string): string {
  const from = Math.max(0, line.length - 200);
  return line.slice(0, from) + line.slice(from).replace(/\b(pid|name|comm)=[^,=]{0,80}$/, '$1=');
}
