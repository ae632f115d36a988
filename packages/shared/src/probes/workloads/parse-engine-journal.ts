import { plainText } from '../parsed.ts';
import type { EngineFailure } from './fact.ts';

/** In this order: a line may quote several, and the first says most. Quotes within a message are escaped by its logger. */
const kinds: readonly [EngineFailure['kind'], RegExp][] = [
  ['requirement', /requirement error: unsatisfied condition/i],
  ['file_exists', /(?:lib(?:nvidia|cuda|nv)[\w.-]*|nvidia-\w+): file exists/i],
  ['ldconfig', /ldcache error: process \S*ldconfig\S* (?:terminated with signal|failed)/i],
  [
    'cdi_unresolvable',
    /unresolvable CDI devices|failed to inject CDI devices|could not select device driver \\*"cdi\\*"/i,
  ],
  ['no_handler', /no runtime for \\*"[^"]+" is configured|unknown or invalid runtime name/i],
  ['csv_mode_hook', /invoking the NVIDIA Container Runtime Hook directly/i],
  ['driver_library', /load library failed: libnvidia-ml|libnvidia-ml\.so\.1: cannot open shared object/i],
  [
    'device_filter',
    /bpf_prog_query\(BPF_CGROUP_DEVICE\) failed|failed to (?:get|create) (?:new )?device (?:cgroup )?filter/i,
  ],
  ['no_device_driver', /could not select device driver \\*"(?:nvidia\\*|\\*)?" with capabilities: \[\[[^\]]*gpu/i],
  ['raw_table', /can't initialize iptables table `raw'/i],
  ['admission', /UnexpectedAdmissionError|maximum request size for shared resources|unknown device/i],
];

/** What a failure's text is about; null: none that concerns a GPU. */
export function classifyFailure(text: string): EngineFailure['kind'] | null {
  return kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}

const maxFailures = 50;
const maxLine = 1_000;

/**
 * A journal in `short-unix` form as failures, equal ones folded. What differs each time that the same is said again
 * (ids, times, numbers of processes) is left out of a line: `…` stands for it.
 */
export function parseEngineJournal(text: string): EngineFailure[] | null {
  const plain = plainText(text);
  if (plain === null) return null;
  const folded = new Map<string, EngineFailure>();
  for (const line of plain.split('\n')) {
    const message = line
      .replace(/^\d+(?:\.\d+)?\s+\S+\s+/, '')
      .slice(0, maxLine)
      // Engines put a message into quotes, and those inside it behind a backslash.
      .replaceAll(/\\+"/g, '"')
      .trim();
    const kind = classifyFailure(message);
    if (kind === null) continue;
    const seconds = /^(\d+(?:\.\d+)?)\s/.exec(line)?.[1];
    const lastAtMs = seconds === undefined ? null : Math.round(Number(seconds) * 1000);
    const said = steady(message);
    const key = `${kind} ${said}`;
    const count = (folded.get(key)?.count ?? 0) + 1;
    // Put again at the end: the newest kinds are kept.
    folded.delete(key);
    folded.set(key, { kind, line: said, count, lastAtMs });
  }
  return [...folded.values()].reverse().slice(0, maxFailures);
}

function steady(message: string): string {
  return message
    .replace(/(?<=: )[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+\s+\d+ /, '')
    .replaceAll(/(?<!(?:GPU|MIG)-)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '…')
    .replaceAll(/(?<![0-9a-f]{4}-)\b[0-9a-f]{12,64}\b/g, '…')
    .replaceAll(/(?<=\w)\[\d+\]/g, '[…]')
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:\d{2})/g, '…')
    .replaceAll(/\bpid=\d+/g, 'pid=…')
    .replaceAll(/(?<=\/snapshots\/)\d+/g, '…');
}

/** The moment of the last line that says that systemd loads its units anew; null: there is none. */
export function parseLastReload(text: string): number | null {
  const moments = (plainText(text) ?? '')
    .split('\n')
    .flatMap((line) => /^(\d+(?:\.\d+)?)\s+\S+\s+systemd\[1\]: Reloading/.exec(line)?.[1] ?? []);
  return moments.length === 0 ? null : Math.round(Math.max(...moments.map(Number)) * 1000);
}
