import { type Parsed, plainText, unread } from '../parsed.ts';

/** A table of nodes and their GPUs, as people make one of a cluster's nodes. */
export interface NodeTable {
  nodes: string[];
  /** By node; null: the cell says that the node has no such resource, or is not a number. */
  gpus: Record<string, number | null>;
  used: Record<string, number | null> | null;
  /** Nodes that know the resource and offer none of it. */
  zeroGpuNodes: string[];
}

const mostNodes = 10_000;

export function parseNodeTable(given: string): Parsed<NodeTable> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const rows = text.split(/\r?\n/).map((line) => line.trim().split(/\s+/));
  const heading = rows.findIndex(isHeading);
  const header = rows[heading];
  if (header === undefined) return unread('not_a_table');
  const usedAt = header.findIndex((word) => isGpus(word) && isUse(word));
  const gpusAt = header.findIndex((word) => isGpus(word) && !isUse(word));
  if (gpusAt < 1) return unread('not_a_table');
  const body = rows.slice(heading + 1, heading + 1 + mostNodes).filter((cells) => (cells[0] ?? '') !== '');
  const column = (at: number) => Object.fromEntries(body.map((cells) => [cells[0] ?? '', countOf(cells[at])]));
  const gpus = column(gpusAt);
  return {
    value: {
      nodes: Object.keys(gpus),
      gpus,
      used: usedAt < 0 ? null : column(usedAt),
      zeroGpuNodes: Object.keys(gpus).filter((name) => gpus[name] === 0),
    },
    unreadable: body
      .filter((cells) => countOf(cells[gpusAt]) === null && cells[gpusAt] !== '<none>')
      .map((cells) => ({ path: `gpus.${cells[0]}`, because: 'not_a_number' })),
  };
}

/** `Node GPU`, `NAME GPU`, `Node Available(GPUs) Used(GPUs)`: single words, the node first. */
function isHeading(words: readonly string[]): boolean {
  return /^(?:node|name)s?$/i.test(words[0] ?? '') && words.slice(1).some(isGpus);
}

function isGpus(word: string): boolean {
  return /gpu/i.test(word);
}

function isUse(word: string): boolean {
  return /used|request|alloc(?!atable)/i.test(word);
}

function countOf(cell: string | undefined): number | null {
  return cell !== undefined && /^\d{1,6}$/.test(cell) ? Number(cell) : null;
}
