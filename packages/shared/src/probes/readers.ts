import { asWritten, parseContainerdFile } from './containerd/parse-containerd-config.ts';
import { parseDaemonJson } from './docker/parse-daemon-json.ts';
import { parseMigResult } from './gpus/parse-mig-result.ts';
import { parseSmiCsv } from './gpus/parse-smi-csv.ts';
import { parseSmiList } from './gpus/parse-smi-list.ts';
import { parseSmiQ } from './gpus/parse-smi-q.ts';
import { parseSmiTable } from './gpus/parse-smi-table.ts';
import { parseSmiXml } from './gpus/parse-smi-xml.ts';
import { parseL4tPackage, parseTegraRelease } from './jetson/parse-tegra-release.ts';
import { parseTegrastats } from './jetson/parse-tegrastats.ts';
import { parseK3sConfig } from './k3s/parse-k3s-config.ts';
import { parseKernelLog } from './kernel-log/parse-kernel-log.ts';
import { parseDescribeNode } from './kube/parse-describe-node.ts';
import { parseNode } from './kube/parse-node.ts';
import { parseNodeTable } from './kube/parse-node-table.ts';
import { type Parsed, plainText } from './parsed.ts';
import { parseConfigureLog } from './toolkit/parse-configure-log.ts';
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
  nv_tegra_release: readTegraRelease,
  tegrastats: parseTegrastats,
  kube_node: readKubeNode,
  kernel_log: readKernelLog,
} satisfies Record<string, Reader>;

export type ReaderName = keyof typeof readers;
export const readerNames = Object.keys(readers) as ReaderName[];

export type FoundReader = { ok: true; read: Reader } | { ok: false; because: 'unknown_reader'; detail: string };

export function findReader(name: string): FoundReader {
  const known = readerNames.find((candidate) => candidate === name);
  if (known !== undefined) return { ok: true, read: readers[known] };
  return {
    ok: false,
    because: 'unknown_reader',
    detail: `there is no such reader; available: ${readerNames.join(', ')}`,
  };
}

/** A file of containerd's, or what the toolkit printed while it wrote one. */
function readContainerd(text: string): Parsed<unknown> {
  const log = parseConfigureLog(text);
  if (log.value !== null) return log;
  const { value, unreadable } = parseContainerdFile(text);
  return { value: value === null ? null : { ...asWritten(value), statedSchema: value.version }, unreadable };
}

/** No log that a person looks at has more of them; each is a number in the answer. */
const mostXids = 10_000;

/** The numbers once for each time that they were seen, as a person counts them in the text. */
function readKernelLog(text: string): Parsed<unknown> {
  const { value, unreadable } = parseKernelLog(text);
  if (value === null) return { value, unreadable };
  const seen = (kind: 'xid' | 'sxid') =>
    value.events
      .filter((event) => event.kind === kind)
      .flatMap(({ xid, count }) => new Array<number | null>(Math.min(count, mostXids)).fill(xid))
      .slice(0, mostXids);
  return { value: { ...value, xids: seen('xid'), sxids: seen('sxid') }, unreadable };
}

function readKubeNode(text: string): Parsed<unknown> {
  if (text.trimStart().startsWith('{')) return parseNode(text);
  const table = parseNodeTable(text);
  return table.value === null ? parseDescribeNode(text) : table;
}

/** Boards without the file tell their release by a package: what `dpkg -l` prints of it is read as well. */
function readTegraRelease(text: string): Parsed<unknown> {
  const parsed = parseTegraRelease(text);
  const l4t = parsed.value === null ? parseL4tPackage(plainText(text) ?? '') : null;
  return l4t === null ? parsed : { value: { l4t, board: null }, unreadable: [] };
}
