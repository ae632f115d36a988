/** One line of a kernel log without what is printed before its message. */
export interface KernelLine {
  text: string;
  /** Since boot; null where the line has no such time stamp. */
  seconds: number | null;
  /** The rest of the message of the line before: indented, without a time of its own. */
  continues: boolean;
}

/** A message of the kernel is at most a thousand bytes; what is longer is no log line. */
const longest = 4_096;

/** Sticky, so that each is tried only where the one before has ended. */
const kmsgRecord = /\d{1,4},\d{1,12},(\d{1,16}),[^;]{0,40};/y;
const priority = /<\d{1,4}>/y;
/** `dmesg --decode`: `kern  :warn  : `. */
const decoded = /[a-z]{2,10}\d? *: ?[a-z]{2,7} *: /y;
/** `[ 3606.832215] `, with the thread or processor that printed it after it. */
const sinceBoot = /\[ *(\d{1,10}\.\d{1,9})\](?: ?\[ *[TC]\d{1,8}\])? ?/y;
/** `[Sun Feb 23 16:24:18 2025] ` of `dmesg -T`, also in other locales. */
const wallClock = /\[[^\]\s]{1,10} [^\]]{4,12} \d{1,2}:\d{2}:\d{2} \d{4}\] ?/y;
const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}[.,]?\d{0,9}(?:Z|[+-]\d{2}:?\d{2})? /y;
const syslogTime = /[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}(?:\.\d{1,9})? /y;
/** `host-1 kernel: `, `kernel: `, and `host-1 audit[4321]: ` of records that the journal has from the audit system. */
const sender = /(?:[\w.-]{1,255} )?(?:kernel|audit\[\d{1,10}\]|audit)(?:\[\d{1,10}\])?: /y;

export function splitKernelLine(raw: string): KernelLine {
  const line = raw.length > longest ? raw.slice(0, longest) : raw;
  let at = 0;
  let seconds: number | null = null;
  const skip = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(line);
    if (match === null) return null;
    at = pattern.lastIndex;
    return match[1] ?? '';
  };
  const microseconds = skip(kmsgRecord);
  if (microseconds !== null) seconds = Number(microseconds) / 1_000_000;
  skip(priority);
  skip(decoded);
  const stamp = () => {
    const since = skip(sinceBoot);
    if (since !== null) seconds = Number(since);
  };
  stamp();
  for (const pattern of [wallClock, isoTime, syslogTime]) skip(pattern);
  // A record of the audit system is `audit: type=1400 …` where the kernel prints it itself.
  if (!line.startsWith('audit: type=', at)) skip(sender);
  stamp();
  const continues = at === 0 && /^[ \t]/.test(line);
  return { text: line.slice(at).trim(), seconds, continues };
}
