import { type Gap, type Parsed, plainText, unread } from '../parsed.ts';
import { isTree, type Tree } from '../values.ts';
import type { GpuProcess } from './fact.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';
import { parseSmiValue } from './parse-smi-value.ts';
import { toGpusFact } from './parse-smi-xml.ts';
import { type PrintedGpu, withUnknownLists } from './printed-gpu.ts';
import { gpuFieldPlace, impliedUnits, isHeader, processFieldPlace } from './smi-csv-fields.ts';
import { type CsvRow, mostCsvRows, readSmiCsvRows } from './smi-csv-rows.ts';

export interface SmiCsv {
  /** Names of the header without units; null where none was printed. */
  fields: string[] | null;
  /** As printed; null: not given. */
  rows: (string | null)[][];
  driverVersion: string | null;
  /** Of `--query-gpu` with a header: what the fields that were asked for say. */
  gpus: PrintedGpu[];
  /** Of `--query-compute-apps` with a header. */
  processes: (GpuProcess & { gpuUuid: string | null; gpuBusId: string | null })[];
}

interface Field {
  name: string;
  unit: string;
}

/** `--query-gpu` and `--query-compute-apps` with `--format=csv`, with or without `noheader` and `nounits`. */
export function parseSmiCsv(given: string): Parsed<SmiCsv> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  if (/^Field ".{0,200}" is not a valid field to query/m.test(text)) return unread('invalid_field');
  const listed = readSmiCsvRows(text);
  if (listed === null) return unread('not_smi_csv');
  if (listed.length > mostCsvRows) return unread('too_large');
  const failure = parseSmiFailure(text.slice(0, 2000).replaceAll(/\[[^\]\n]*\]/g, ''));
  const header = toFields(listed[0]?.cells);
  if (failure !== null && header === null) return unread(failure);
  const body = header === null ? listed : listed.slice(1);
  const width = header?.length ?? body[0]?.cells.length ?? 0;
  if (body.length === 0 && header === null) return unread('not_smi_csv');
  const [only] = listed;
  if (listed.length === 1 && only?.cut && (header !== null || isHeader(only.cells.slice(0, -1).map(nameOf))))
    return unread('truncated');
  // Without a header nothing but its even rows says that this is such an output.
  if (header === null && body.some(({ cells, cut }) => cells.length !== width && !cut)) return unread('not_smi_csv');
  if (header === null && body.some(({ cells }) => cells.some((cell) => cell.length > longestCell)))
    return unread('not_smi_csv');
  const gaps: Gap[] = [];
  const rows = body.flatMap((row, at) => evenRow(row, header, width, at, gaps));
  const value: SmiCsv = {
    fields: header?.map(({ name }) => name) ?? null,
    rows: rows.map((cells, at) => cells.map((cell, column) => plainCell(cell, `rows.${at}.${column}`, gaps))),
    driverVersion: null,
    gpus: [],
    processes: [],
  };
  if (header?.some(({ name }) => name === 'pid')) value.processes = toProcesses(header, rows, gaps);
  else if (header !== null) {
    const own = firstOfEach(header, rows);
    const root = toRoot(header, own);
    const fact = toGpusFact(root, gaps);
    if (fact === null) gaps.push({ path: 'gpus', because: 'too_many_gpus' });
    value.driverVersion = fact?.driverVersion ?? null;
    value.gpus = (fact?.gpus ?? []).map((gpu, at) => {
      const index = printedIndex(header, own[at] ?? []);
      return { ...withUnknownLists(gpu, root.gpu[at]), ...(index === undefined ? {} : { index }) };
    });
  }
  return { value, unreadable: gaps };
}

/** Longer than any value that is printed without its name. */
const longestCell = 1024;

function nameOf(cell: string): string {
  return cell.replace(/ \[[^\]]*\]$/, '');
}

function toFields(cells: readonly string[] | undefined): Field[] | null {
  if (cells === undefined) return null;
  const fields = cells.map((cell) => {
    const unit = / \[([^\]]*)\]$/.exec(cell)?.[1] ?? '';
    const name = nameOf(cell);
    return { name, unit: unit || (impliedUnits.get(name) ?? '') };
  });
  return isHeader(fields.map(({ name }) => name)) ? fields : null;
}

/** A name can hold the separator: what is too much belongs to it. Other rows of another width are not read. */
function evenRow(row: CsvRow, header: Field[] | null, width: number, at: number, gaps: Gap[]): string[][] {
  const { cells, cut } = row;
  if (cells.length === width && !cut) return [cells];
  if (cut) {
    gaps.push({ path: `rows.${at}`, because: 'truncated' });
    const whole = cells.slice(0, -1);
    return whole.length < width ? [[...whole, ...Array<string>(width - whole.length).fill('')]] : [];
  }
  const wide = header?.findIndex(({ name }) => name === 'process_name' || name === 'name' || name === 'gpu_name') ?? -1;
  const process = header?.findIndex(({ name }) => name === 'process_name') ?? -1;
  const glued = process >= 0 ? process : wide;
  if (cells.length > width && glued >= 0) {
    const extra = cells.length - width + 1;
    return [[...cells.slice(0, glued), cells.slice(glued, glued + extra).join(', '), ...cells.slice(glued + extra)]];
  }
  gaps.push({ path: `rows.${at}`, because: 'unexpected_columns' });
  return [Array<string>(width).fill('')];
}

function plainCell(cell: string, path: string, gaps: Gap[]): string | null {
  const value = toValue(cell);
  if (value.at === 'trouble') gaps.push({ path, because: value.because });
  return value.at === 'given' ? value.text : null;
}

/** In this format a cell in brackets is never a value. */
function toValue(cell: string): ReturnType<typeof parseSmiValue> {
  const value = parseSmiValue(cell);
  const sentence = value.at === 'given' && /^\[.*\]$/.test(value.text);
  return sentence ? { at: 'trouble', because: 'unexpected_text' } : value;
}

/** With `nounits` the unit stands in the header only. */
function withUnit(cell: string, { unit }: Field): string {
  return unit !== '' && /^-?\d{1,15}(?:\.\d{1,6})?$/.test(cell) ? `${cell} ${unit}` : cell;
}

function toTree(header: Field[], cells: string[], placeOf: (name: string) => string | undefined): Tree {
  const tree: Tree = {};
  for (const [at, field] of header.entries()) {
    const path = placeOf(field.name)?.split('/');
    const leaf = path?.pop();
    if (path === undefined || leaf === undefined) continue;
    const here = path.reduce((parent, step) => {
      const found = parent[step];
      const child = isTree(found) ? found : {};
      parent[step] = child;
      return child;
    }, tree);
    const cell = withUnit(cells[at] ?? '', field);
    here[leaf] ??= leaf.startsWith('@') && toValue(cell).at !== 'given' ? '' : cell;
  }
  return tree;
}

function toRoot(header: Field[], rows: string[][]): Tree & { gpu: Tree[] } {
  const at = (name: string) => header.findIndex((field) => field.name === name);
  const first = (name: string) => rows[0]?.[at(name)] ?? '';
  return {
    driver_version: first('driver_version'),
    kmd_version: first('kmd_version'),
    gpu: rows.map((cells) => toTree(header, cells, gpuFieldPlace)),
  };
}

/** With `-l` a GPU has a row for every round: the first one is the GPU, all are in `rows`. */
function firstOfEach(header: Field[], rows: string[][]): string[][] {
  const names = ['uuid', 'gpu_uuid', 'pci.bus_id', 'gpu_bus_id', 'index'];
  const columns = header.flatMap(({ name }, at) => (names.includes(name) ? [at] : []));
  if (columns.length === 0) return rows;
  const seen = new Set<string>();
  return rows.filter((cells) => {
    const identity = columns.map((at) => cells[at]).join();
    return !seen.has(identity) && seen.add(identity);
  });
}

/** Undefined: it was not asked for. */
function printedIndex(header: Field[], cells: string[]): number | null | undefined {
  const column = header.findIndex(({ name }) => name === 'index');
  if (column < 0) return undefined;
  return /^\d{1,4}$/.test(cells[column] ?? '') ? Number(cells[column]) : null;
}

function toProcesses(header: Field[], rows: string[][], gaps: Gap[]): SmiCsv['processes'] {
  const own: Gap[] = [];
  // One GPU of its own for each row: rows name their GPU themselves.
  const processes = rows.flatMap((cells, at) => {
    const gpu = {
      ...toTree(header, cells, gpuFieldPlace),
      processes: { process_info: [toTree(header, cells, processFieldPlace)] },
    };
    const rowGaps: Gap[] = [];
    const [read] = toGpusFact({ gpu: [gpu] }, rowGaps)?.gpus ?? [];
    own.push(
      ...rowGaps
        .filter(({ path }) => path.startsWith('gpus.0.processes.0'))
        .map(({ path, because }) => ({ path: path.replace('gpus.0.processes.0', `processes.${at}`), because })),
    );
    const [process] = read?.processes ?? [];
    return process ? [{ ...process, gpuUuid: read?.uuid ?? null, gpuBusId: read?.pciBusId ?? null }] : [];
  });
  gaps.push(...own);
  return processes;
}
