import type { Gap } from '../parsed.ts';
import { classifyKernelMessage, isWorthALook, type KernelMessage } from './classify-kernel-message.ts';
import type { KernelEvent, KernelEventKind, KernelLogFact } from './fact.ts';
import { recoveryActionChanged } from './parse-xid-line.ts';
import { splitKernelLine } from './split-kernel-line.ts';

/** Different events of one kind that are kept; of more, those seen last. */
const mostOfAKind = 50;
const longestMessage = 400;
/** The longest known message goes over eight lines; other processors may print between them. */
const mostLines = 10;
const mostForeignLines = 5;

/** The driver breaks these messages into lines of its own, each with `NVRM:` before it. */
const breaksLines = /^NVRM: +(?:The NVIDIA |API mismatch)/;
const beginsAnother =
  /^NVRM: +(?:Xid|GPU ?\d|GPU at|loading|The NVIDIA|No NVIDIA|None of|API mismatch|A GPU crash|RmInit|rm_init|\w+: )/;
const firstLine = /^(?:Linux version \d|Booting Linux on physical CPU )/;
/** journalctl writes these between two boots. */
const otherBoot = /^-- (?:Reboot|Boot [0-9a-f]{32})/;

interface Pending {
  text: string;
  seconds: number | null;
  sequence: number;
  breaks: boolean;
  lines: number;
  foreign: number;
}
type Kept = KernelEvent & { sequence: number };

export interface KernelLogFold {
  line(raw: string): void;
  end(): Omit<KernelLogFact, 'from'> & { lines: number; gaps: Gap[] };
}

/** Reads a kernel log line by line, in bounded memory: equal events are counted, and a new boot forgets the one before. */
export function createKernelLogFold(): KernelLogFold {
  const kept = new Map<string, Kept>();
  const ofKind = new Map<KernelEventKind, number>();
  let overflowed = false;
  let pending: Pending | null = null;
  let lines = 0;
  let sequence = 0;
  let beginsAtBoot = false;
  /** Goes up when what was before is history: equal events before and after are two. */
  let generation = 0;

  function forget(): void {
    kept.clear();
    ofKind.clear();
    pending = null;
    overflowed = false;
  }

  function record(message: KernelMessage, text: string, seconds: number | null, at: number): void {
    if (endsHistory(message)) generation += 1;
    const key = [generation, message.kind, message.address, message.xid, message.process, message.detail].join('\n');
    const known = kept.get(key);
    if (known) {
      known.count += 1;
      known.lastSeconds = seconds ?? known.lastSeconds;
      // Kept in the order of when each was last seen, so that the first of a kind is the one to let go.
      kept.delete(key);
      kept.set(key, known);
      return;
    }
    const many = (ofKind.get(message.kind) ?? 0) + 1;
    if (many > mostOfAKind) {
      overflowed = true;
      for (const [other, event] of kept) {
        if (event.kind !== message.kind) continue;
        kept.delete(other);
        break;
      }
    } else ofKind.set(message.kind, many);
    const line = text.slice(0, longestMessage);
    kept.set(key, { ...message, line, count: 1, firstSeconds: seconds, lastSeconds: seconds, sequence: at });
  }

  function flush(): void {
    if (!pending) return;
    const { text, seconds, sequence: at } = pending;
    pending = null;
    const message = classifyKernelMessage(text);
    if (message) record(message, text, seconds, at);
  }

  function append(more: string): void {
    if (!pending || pending.lines >= mostLines) return;
    pending.text = `${pending.text} ${more.replace(/^NVRM: */, '')}`.slice(0, 2_000);
    pending.lines += 1;
  }

  function line(raw: string): void {
    // Nearly every line ends here, unread.
    if (pending === null && !isWorthALook(raw)) {
      if (/\S/.test(raw)) lines += 1;
      return;
    }
    const { text, seconds, continues } = splitKernelLine(raw);
    if (text === '') return;
    lines += 1;
    if (continues) {
      append(text);
      return;
    }
    if (otherBoot.test(text)) {
      forget();
      beginsAtBoot = false;
      return;
    }
    if (text.startsWith('-- ')) return;
    if (firstLine.test(text)) {
      forget();
      beginsAtBoot = true;
      return;
    }
    if (pending?.breaks) {
      if (text.startsWith('NVRM:') && !beginsAnother.test(text)) {
        append(text);
        return;
      }
      if (!text.startsWith('NVRM:') && pending.foreign < mostForeignLines) {
        pending.foreign += 1;
        const message = isWorthALook(text) ? classifyKernelMessage(text) : null;
        if (message) record(message, text, seconds, sequence++);
        return;
      }
    }
    flush();
    if (!isWorthALook(text)) return;
    pending = { text, seconds, sequence: sequence++, breaks: breaksLines.test(text), lines: 1, foreign: 0 };
  }

  return {
    line,
    end() {
      flush();
      const events = [...kept.values()]
        .sort((a, b) => a.sequence - b.sequence)
        .map(({ sequence: _, ...event }): KernelEvent => event);
      const gaps = overflowed ? [{ path: 'events', because: 'too_many_events' }] : [];
      return { events, beginsAtBoot: lines > 0 ? beginsAtBoot : null, lines, gaps };
    },
  };
}

/** After a load of the module, a reset, or the driver's word that nothing is left to do, older events are over. */
function endsHistory({ kind, xid, detail }: KernelMessage): boolean {
  if (kind === 'module_loaded' || kind === 'gpu_reset') return true;
  return kind === 'xid' && xid === recoveryActionChanged && detail === 'None';
}
