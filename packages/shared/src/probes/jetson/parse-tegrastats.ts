import { type Gap, type Parsed, plainText, unread } from '../parsed.ts';

/** One line of `tegrastats`. What the board or its release does not print is null. */
export interface Tegrastats {
  ramUsedMiB: number;
  ramTotalMiB: number;
  swapUsedMiB: number | null;
  swapTotalMiB: number | null;
  /** Load in per cent by core; null: the core is off. */
  cpuPercent: (number | null)[];
  gpuPercent: number | null;
  /** Of the first GPC where there are several. */
  gpuMHz: number | null;
  memoryControllerPercent: number | null;
  /** By sensor, named as printed. */
  temperaturesC: Record<string, number>;
  /** By rail, named as printed: what it draws now. Older releases print no unit and mean the same. */
  powerMilliwatts: Record<string, number>;
}

/** The last line that is one: a capture usually holds several, and the first ones are older. */
export function parseTegrastats(given: string): Parsed<Tegrastats> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const line = withoutCutWord(text)
    .split(/\r?\n/)
    .findLast((candidate) => ram.test(candidate.slice(0, longestLine)))
    ?.slice(0, longestLine);
  if (line === undefined) return unread('not_tegrastats');
  const memory = ram.exec(line);
  const swap = /\bSWAP (\d{1,9})\/(\d{1,9})MB/.exec(line);
  const cores = /\bcpu ?\[([^\]]{0,2000})\]/i.exec(line)?.[1];
  const load = /\bGR3D(?:_FREQ)? (?:(\d{1,3})%)?(?:@\[?(\d{1,5}))?/.exec(line);
  const unreadable: Gap[] = load === null ? [{ path: 'gpuPercent', because: 'not_printed' }] : [];
  return {
    value: {
      ramUsedMiB: Number(memory?.[1]),
      ramTotalMiB: Number(memory?.[2]),
      swapUsedMiB: numberOf(swap?.[1]),
      swapTotalMiB: numberOf(swap?.[2]),
      cpuPercent: cores === undefined ? [] : cores.split(',').map((core) => numberOf(/^\s*(\d{1,3})%/.exec(core)?.[1])),
      gpuPercent: numberOf(load?.[1]),
      gpuMHz: numberOf(load?.[2]),
      memoryControllerPercent: numberOf(/\bEMC(?:_FREQ)? (\d{1,3})%/.exec(line)?.[1]),
      temperaturesC: pairs(line, /(?:^|\s)([A-Za-z]\w{0,30})@(-?\d{1,4}(?:\.\d{1,6})?)C(?=\s|$)/g),
      powerMilliwatts: pairs(line, /(?:^|\s)([A-Z][A-Z0-9_]{2,40}) (\d{1,7})(?:mW)?\/\d{1,7}(?:mW)?(?=\s|$)/g),
    },
    unreadable,
  };
}

/** A word without a line end could be the beginning of a longer one, unless a unit ends it. */
function withoutCutWord(text: string): string {
  const last = /\S{0,200}$/.exec(text.slice(-200))?.[0] ?? '';
  return last === '' || /(?:C|mW|%|MB\)?)$/.test(last) ? text : text.slice(0, -last.length);
}

const ram = /(?:^|\s)RAM (\d{1,9})\/(\d{1,9})MB/;
const longestLine = 10_000;

function numberOf(text: string | undefined): number | null {
  return text === undefined ? null : Number(text);
}

function pairs(line: string, pattern: RegExp): Record<string, number> {
  return Object.fromEntries([...line.matchAll(pattern)].map(([, name, value]) => [name, Number(value)]));
}
