import { type Gap, type Parsed, plainText, unread } from '../parsed.ts';
import type { GpusFact } from './fact.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';
import { toGpusFact } from './parse-smi-xml.ts';
import { type PrintedGpu, withUnknownLists } from './printed-gpu.ts';
import { readSmiQTree } from './read-smi-q-tree.ts';

export interface SmiQ extends Omit<GpusFact, 'gpus'> {
  gpus: PrintedGpu[];
}

const heading = /^ *(?:=+NVSMI LOG=|NVIDIA-SMI version |Driver Version |Attached GPUs |GPU [\dA-F]{4,8}:)/im;

/**
 * `nvidia-smi -q`, whole or some sections of it (`-d`), and `nvidia-smi --version`, which has the same form and says
 * nothing of GPUs. A section that was not printed is unknown.
 */
export function parseSmiQ(given: string): Parsed<SmiQ> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const tree = readSmiQTree(text);
  if (tree === null || !heading.test(text)) return unread(parseSmiFailure(text) ?? 'not_smi_q');
  const gaps: Gap[] = [];
  const fact = toGpusFact(tree.root, gaps);
  if (fact === null) return unread('too_many_gpus');
  const value = { ...fact, gpus: fact.gpus.map((gpu, at) => withUnknownLists(gpu, tree.gpus[at])) };
  const last = value.gpus.length - 1;
  if (tree.cut) gaps.push({ path: last >= 0 ? `gpus.${last}` : '', because: 'truncated' });
  if (value.attached !== null && value.attached > value.gpus.length)
    gaps.push({ path: 'gpus', because: 'fewer_than_attached' });
  return { value, unreadable: gaps };
}
