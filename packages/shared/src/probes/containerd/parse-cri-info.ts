import type { RuntimeEntry } from '../fact.ts';
import { parseJson } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringsAt, textAt, treeAt } from '../values.ts';
import { byName } from './parse-containerd-config.ts';

export interface CriInfo {
  /** null: it did not say. */
  runtimes: RuntimeEntry[] | null;
  defaultRuntime: string | null;
  enableCdi: boolean | null;
  cdiSpecDirs: string[] | null;
}

/** `crictl info`: what the live CRI plugin runs with, in the spelling of containerd's Go structures. */
export function parseCriInfo(text: string): Parsed<CriInfo> {
  const document = parseJson(text);
  if (!document.ok || !isTree(document.value)) return unread('not_json');
  const config = treeAt(document.value, 'config');
  const containerd = treeAt(config, 'containerd');
  const cdi = {
    enableCdi: booleanAt(config, 'enableCDI'),
    cdiSpecDirs: at(config, 'cdiSpecDirs') === undefined ? null : stringsAt(config, 'cdiSpecDirs'),
  };
  const table = treeAt(containerd, 'runtimes');
  if (table !== undefined) {
    const runtimes = Object.entries(table).map(([name, entry]) => ({
      name,
      binary: textAt(entry, 'options', 'BinaryName'),
      type: textAt(entry, 'runtimeType') ?? textAt(entry, 'runtime_type'),
      systemdCgroup: booleanAt(entry, 'options', 'SystemdCgroup'),
    }));
    return {
      value: { runtimes: runtimes.sort(byName), defaultRuntime: textAt(containerd, 'defaultRuntimeName'), ...cdi },
      unreadable: [],
    };
  }
  // Without the verbose part there are still the handlers' names (kubelet API since Kubernetes 1.30).
  const handlers = at(document.value, 'runtimeHandlers');
  const names = Array.isArray(handlers)
    ? handlers.map((handler) => textAt(handler, 'name')).filter((name) => name !== null)
    : [];
  if (names.length === 0)
    return {
      value: { runtimes: null, defaultRuntime: null, ...cdi },
      unreadable: [{ path: 'runtimes', because: 'not_told' }],
    };
  const runtimes = names.map((name) => ({ name, binary: null, type: null, systemdCgroup: null })).sort(byName);
  return {
    value: { runtimes, defaultRuntime: null, ...cdi },
    unreadable: [{ path: 'defaultRuntime', because: 'not_told' }],
  };
}

/** `ctr plugins ls`: did the CRI plugin load? A disabled one is not listed at all. null: this is no list of plugins. */
export function parseCtrPlugins(text: string): boolean | null {
  const rows = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([type]) => type?.startsWith('io.containerd.'));
  if (rows.length === 0) return null;
  const cri = rows.filter(
    ([type, id]) => (type === 'io.containerd.grpc.v1' && id === 'cri') || type === 'io.containerd.cri.v1',
  );
  return cri.length > 0 && cri.every((columns) => columns.at(-1) === 'ok');
}

/** `containerd --version`: `containerd github.com/containerd/containerd/v2 v2.1.9 <commit>` and older spellings. */
export function parseContainerdVersion(text: string): string | null {
  return /^containerd \S+ v?(\d+\.\d+\.\d+\S*)/m.exec(text)?.[1] ?? null;
}
