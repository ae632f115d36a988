import { type Gap, type Parsed, plainText, unread } from '../parsed.ts';
import type { Tree } from '../values.ts';
import type { GpusFact } from './fact.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';
import { toGpusFact } from './parse-smi-xml.ts';
import { type PrintedGpu, withUnknownLists } from './printed-gpu.ts';
import {
  readFirstRow,
  readMigDeviceRow,
  readMigRow,
  readProcessRow,
  readSecondRow,
  type TableGpu,
} from './read-smi-table-rows.ts';

export interface SmiTable extends Omit<GpusFact, 'gpus'> {
  /** `printedName`: with dots at its end where the column is too narrow; `name` is null then. */
  gpus: (PrintedGpu & { printedName: string })[];
  /** Lines that warn, below or above the table. */
  warnings: string[];
}

const header = /^\| NVIDIA-SMI +\S+ +(?:Driver|KMD) Version: +(\S+)(?: +CUDA (?:UMD )?Version: +(\S+))? *\|$/;
/** A wide console; longer lines are no rows. */
const longestRow = 400;
/** Each warning is a line; a file of nothing else is no table. */
const mostWarnings = 50;

interface Reading {
  root: Tree;
  gpus: TableGpu[];
  devices: Map<number, Tree[]>;
  processes: Map<number, Tree[]>;
  warnings: string[];
  /** The table says that no process runs; an empty one says nothing: a container sees none of the host's. */
  idle: boolean;
}

/** What `nvidia-smi` without arguments prints, of any age and width: rows of two or three lines. */
export function parseSmiTable(given: string): Parsed<SmiTable> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const reading = readLines(text.split(/\r?\n/));
  const { root, gpus, devices, processes, warnings, idle } = reading;
  if (gpus.length === 0 && Object.keys(root).length === 0) return unread(parseSmiFailure(text) ?? 'not_smi_table');
  const trees = gpus.map(({ index, tree }) => ({
    ...tree,
    ...(devices.has(index) ? { mig_devices: { mig_device: devices.get(index) } } : {}),
    ...(idle || processes.size > 0 ? { processes: { process_info: processes.get(index) ?? [] } } : {}),
  }));
  const gaps: Gap[] = [];
  const fact = toGpusFact({ ...root, gpu: trees }, gaps);
  if (fact === null) return unread('too_many_gpus');
  const value = {
    ...fact,
    gpus: fact.gpus.map((gpu, at) => {
      const { index, printedName = '' } = gpus[at] ?? { index: at };
      if (printedName.endsWith('...')) gaps.push({ path: `gpus.${at}.name`, because: 'cut' });
      return { ...withUnknownLists(gpu, trees[at]), index, printedName };
    }),
    warnings,
  };
  const last = value.gpus.length - 1;
  if (endsInRow(text)) gaps.push({ path: last >= 0 ? `gpus.${last}` : '', because: 'truncated' });
  if (last < 0) gaps.push({ path: 'gpus', because: 'no_rows' });
  else if (/\bGPU requires reset\b/.test(text) && !gaps.some(({ because }) => because === 'gpu_requires_reset'))
    gaps.push({ path: `gpus.${last}`, because: 'gpu_requires_reset' });
  return { value, unreadable: gaps };
}

/** The last line is a row or a border without its end. */
function endsInRow(text: string): boolean {
  const last = text.slice(text.lastIndexOf('\n') + 1).trim();
  return /^[|+]/.test(last) && !/[|+]$/.test(last);
}

function readLines(lines: readonly string[]): Reading {
  const reading: Reading = { root: {}, gpus: [], devices: new Map(), processes: new Map(), warnings: [], idle: false };
  let section: 'gpus' | 'mig' | 'processes' = 'gpus';
  let current: TableGpu | null = null;
  let row = 0;
  for (const raw of lines) {
    const line = raw.length > longestRow ? '' : raw.trim();
    const versions = header.exec(line);
    if (versions) {
      // The next table of `-l`, or of a file that was appended to.
      if (Object.keys(reading.root).length > 0) break;
      reading.root = { driver_version: versions[1], cuda_version: versions[2] ?? '' };
    } else if (/^\| *(MIG devices|Processes):/.test(line)) {
      section = line.includes('MIG devices') ? 'mig' : 'processes';
      current = null;
    } else if (/^warning\b/i.test(line) && reading.warnings.length < mostWarnings) reading.warnings.push(line);
    if (/^[|+=-]+$/.test(line)) {
      current = null;
      continue;
    }
    // A row that was cut has no bar at its end: a part of a number is no number.
    if (!line.startsWith('|') || !line.endsWith('|')) continue;
    const cells = line.slice(1, -1).split('|');
    if (section === 'processes' && line.includes('No running processes found')) reading.idle = true;
    else if (section === 'processes') addTo(reading.processes, readProcessRow(cells.join('|')), 'process');
    else if (section === 'mig') addTo(reading.devices, readMigDeviceRow(cells), 'device');
    else {
      const first: TableGpu | null = readFirstRow(cells);
      if (first !== null && !reading.gpus.some(({ index }) => index === first.index)) {
        reading.gpus.push(first);
        [current, row] = [first, 1];
      } else if (current !== null) {
        row += 1;
        if (row === 2) readSecondRow(current, cells);
        else if (row === 3 && cells.slice(0, -1).every((cell) => cell.trim() === '')) readMigRow(current, cells);
      }
    }
  }
  return reading;
}

function addTo<Kind extends string>(
  map: Map<number, Tree[]>,
  found: ({ gpu: number } & Record<Kind, Tree>) | null,
  kind: Kind,
): void {
  if (found === null) return;
  const list = map.get(found.gpu) ?? [];
  list.push(found[kind]);
  map.set(found.gpu, list);
}
