import { type Parsed, plainText, unread } from '../parsed.ts';
import { type MigTables, parseMigTables } from './parse-mig-table.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';

export type MigOutcome =
  /** Every change asked for was made. */
  | 'done'
  /** Accepted, and not in effect before a reset, a reboot or the end of the clients. Exit code 0. */
  | 'pending'
  /** Some of the instances asked for exist now, although the command failed. */
  | 'partial'
  /** Nothing was changed. The exit code can be 0. */
  | 'failed'
  /** The GPU was asked and has no such instances. */
  | 'none'
  /** No GPU has MIG enabled. Exit code 0 since driver 550. */
  | 'mig_off'
  /** A table was printed. */
  | 'listed'
  /** The program could not tell: not to be read as "none". */
  | 'unknown';

export interface MigResult {
  outcome: MigOutcome;
  /** NVML's words, as printed: `Insufficient Resources`, `In use by another client` … */
  reason: string | null;
  /** What a pending change waits for. */
  needs: 'end_clients_or_reboot' | 'reset_or_reboot' | null;
  /** Outcome of `-mig 0|1` for each GPU, by PCI bus id. */
  modes: { gpu: string; mode: 'enabled' | 'disabled'; state: 'done' | 'pending' | 'failed'; reason: string | null }[];
  created: {
    gpuInstances: { gpu: number; id: number | null; profile: string }[];
    computeInstances: { gpu: number; gpuInstanceId: number; id: number | null; profile: string }[];
  };
  /** Instances that were destroyed. */
  destroyed: number;
  tables: MigTables | null;
}

const bus = '([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\\.[0-7])';
const changed = new RegExp(`^(Enabled|Disabled) MIG Mode for GPU ${bus}`);
const pending = new RegExp(`^Warning: MIG mode is in pending (enable|disable) state for GPU ${bus}:\\s*(.*)$`);
const refused = new RegExp(`^Unable to (enable|disable) MIG Mode for GPU ${bus}:\\s*(.*)$`);
const madeGpu =
  /^Successfully created GPU instance(?: ID\s+(\d{1,9}))? on GPU\s+(\d{1,9}) using profile (?:MIG )?(\S+) \(ID/;
const madeCompute =
  /^Successfully created compute instance(?: ID\s+(\d{1,9}))? on GPU\s+(\d{1,9}) GPU instance ID\s+(\d{1,9}) using profile (?:MIG )?(\S+) \(ID/;
const failure = /^(?:Unable to|Failed to) (?:create|destroy|display|list|reset)[^:]*:\s*(?:\S+:\s)?(.+)$/;
const nothing = /^No (?:GPU|compute) instances found: (.+)$/;

/**
 * What `nvidia-smi -mig`, `mig -cgi`, `-cci`, `-dgi`, `-dci`, `-lgi`, `-lci` and `-lgip` printed. The exit code is no
 * help: it is 0 for a change that was refused or is pending, and not 0 when some instances were made.
 */
export function parseMigResult(given: string): Parsed<MigResult> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const result: MigResult = {
    outcome: 'unknown',
    reason: null,
    needs: null,
    modes: [],
    created: { gpuInstances: [], computeInstances: [] },
    destroyed: 0,
    tables: parseMigTables(text),
  };
  let empty: string | null = null;
  for (const line of text.split(/\r?\n/).map(unwrap)) {
    const reason = readModeLine(line, result) ?? failure.exec(line)?.[1] ?? null;
    if (reason !== null) result.reason ??= reason.trim();
    empty ??= nothing.exec(line)?.[1]?.trim() ?? null;
    readInstanceLine(line, result);
    if (/currently (?:being used|in use) by/i.test(line)) result.needs = 'end_clients_or_reboot';
    else if (/^Reboot the system or try nvidia-smi --gpu-reset/.test(line)) result.needs ??= 'reset_or_reboot';
    if (/is currently in use by another process/.test(line)) result.reason ??= 'In use by another process';
  }
  const outcome = toOutcome(result, empty, text);
  if (outcome === null) return unread(parseSmiFailure(text) ?? 'not_mig_result');
  if (outcome === 'none' || outcome === 'unknown') result.reason ??= empty;
  return { value: { ...result, outcome }, unreadable: [] };
}

/** Some consoles break a line at 80 columns by a run of blanks inside a word. */
function unwrap(line: string): string {
  return /^[|+]/.test(line) ? line : line.replace(/ {20,}/g, '').trimEnd();
}

/** The reason why a mode was not changed at once, or null. */
function readModeLine(line: string, { modes }: MigResult): string | null {
  const done = changed.exec(line);
  if (done)
    modes.push({
      gpu: done[2] ?? '',
      mode: done[1] === 'Enabled' ? 'enabled' : 'disabled',
      state: 'done',
      reason: null,
    });
  const later = pending.exec(line) ?? refused.exec(line);
  if (!later) return null;
  const state = line.startsWith('Warning') ? ('pending' as const) : ('failed' as const);
  const reason = later[3]?.trim() || null;
  modes.push({ gpu: later[2] ?? '', mode: later[1] === 'enable' ? 'enabled' : 'disabled', state, reason });
  return reason;
}

function readInstanceLine(line: string, result: MigResult): void {
  const toId = (digits: string | undefined) => (digits === undefined ? null : Number(digits));
  const gpu = madeGpu.exec(line);
  if (gpu) result.created.gpuInstances.push({ gpu: Number(gpu[2]), id: toId(gpu[1]), profile: gpu[3] ?? '' });
  const compute = madeCompute.exec(line);
  if (compute)
    result.created.computeInstances.push({
      gpu: Number(compute[2]),
      gpuInstanceId: Number(compute[3]),
      id: toId(compute[1]),
      profile: compute[4] ?? '',
    });
  if (/^Successfully destroyed (?:GPU|compute) instance/.test(line)) result.destroyed += 1;
}

function toOutcome(result: MigResult, empty: string | null, text: string): MigOutcome | null {
  const changes = result.created.gpuInstances.length + result.created.computeInstances.length + result.destroyed;
  if (result.modes.some(({ state }) => state === 'failed'))
    return result.modes.some(({ state }) => state === 'done') ? 'partial' : 'failed';
  if (result.modes.some(({ state }) => state === 'pending')) return 'pending';
  if (changes > 0) return result.reason === null ? 'done' : 'partial';
  if (result.modes.length > 0) return 'done';
  if (empty !== null) return empty === 'Not Found' ? 'none' : 'unknown';
  if (result.reason !== null || result.needs !== null) return 'failed';
  if (/^No MIG-(?:enabled|supported) devices found/m.test(text)) return 'mig_off';
  return result.tables === null ? null : 'listed';
}
