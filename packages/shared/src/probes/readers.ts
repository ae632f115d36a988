import { asWritten, parseContainerdFile } from './containerd/parse-containerd-config.ts';
import { parseDaemonJson } from './docker/parse-daemon-json.ts';
import { parseMigResult } from './gpus/parse-mig-result.ts';
import { parseSmiCsv } from './gpus/parse-smi-csv.ts';
import { parseSmiList } from './gpus/parse-smi-list.ts';
import { parseSmiQ } from './gpus/parse-smi-q.ts';
import { parseSmiTable } from './gpus/parse-smi-table.ts';
import { parseSmiXml } from './gpus/parse-smi-xml.ts';
import { parseTegraRelease } from './jetson/parse-tegra-release.ts';
import { parseK3sConfig } from './k3s/parse-k3s-config.ts';
import { parseDescribeNode } from './kube/parse-describe-node.ts';
import { parseNode } from './kube/parse-node.ts';
import type { Parsed } from './parsed.ts';
import { parseToolkitConfig } from './toolkit/parse-toolkit-config.ts';

/** Reads one text that a person has: never throws, and says what it could not read. */
export type Reader = (text: string) => Parsed<unknown>;

/** Readers by name, as in `gpufleet-agent read NAME FILE`. */
export const readers = {
  smi_xml: parseSmiXml,
  smi_q: parseSmiQ,
  smi_table: parseSmiTable,
  smi_csv: parseSmiCsv,
  smi_list: parseSmiList,
  mig_result: parseMigResult,
  containerd: readContainerd,
  docker: parseDaemonJson,
  toolkit: parseToolkitConfig,
  k3s: parseK3sConfig,
  nv_tegra_release: parseTegraRelease,
  kube_node: readKubeNode,
} satisfies Record<string, Reader>;

export type ReaderName = keyof typeof readers;
export const readerNames = Object.keys(readers) as ReaderName[];

/** Names that are agreed and whose reader is not here yet. */
export const plannedReaderNames = ['tegrastats', 'kernel_log'] as const;

export type FoundReader =
  | { ok: true; read: Reader }
  | { ok: false; because: 'unknown_reader' | 'not_available_yet'; detail: string };

export function findReader(name: string): FoundReader {
  const known = readerNames.find((candidate) => candidate === name);
  if (known !== undefined) return { ok: true, read: readers[known] };
  const planned = plannedReaderNames.some((candidate) => candidate === name);
  return {
    ok: false,
    because: planned ? 'not_available_yet' : 'unknown_reader',
    detail: `${planned ? 'this reader is not available yet' : 'there is no such reader'}; available: ${readerNames.join(', ')}`,
  };
}

function readContainerd(text: string): Parsed<unknown> {
  const { value, unreadable } = parseContainerdFile(text);
  return { value: value === null ? null : { ...asWritten(value), statedSchema: value.version }, unreadable };
}

function readKubeNode(text: string): Parsed<unknown> {
  return text.trimStart().startsWith('{') ? parseNode(text) : parseDescribeNode(text);
}
