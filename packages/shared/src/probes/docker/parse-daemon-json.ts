import { parseJson } from '../parse-document.ts';
import { type Gap, type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringsAt, textAt, treeAt } from '../values.ts';
import type { DockerFact } from './fact.ts';

export type DaemonConfig = NonNullable<DockerFact['config']>;

/** What a daemon.json says, and the names of its keys. */
export interface DaemonJson extends DaemonConfig {
  keys: string[];
  /** `node-generic-resources`: how Swarm is told of GPUs. */
  genericResources: string[];
}

/** dockerd takes an empty file, blanks and `null` for no settings. */
export function parseDaemonJson(text: string): Parsed<DaemonJson> {
  const document = text.trim() === '' ? ({ ok: true, value: {} } as const) : parseJson(text);
  if (!document.ok) return unread(`not_json: ${document.error}`);
  const value = document.value ?? {};
  if (!isTree(value)) return unread('not_an_object');
  const gaps: Gap[] = [];
  const table = at(value, 'runtimes') ?? {};
  if (!isTree(table)) gaps.push({ path: 'runtimes', because: 'wrong_type' });
  const runtimes = Object.entries(isTree(table) ? table : {}).map(([name, entry]) => ({
    name,
    binary: textAt(entry, 'path'),
    // Since docker 23 a runtime can be a containerd shim instead of a binary.
    type: textAt(entry, 'runtimeType'),
    systemdCgroup: null,
  }));
  return {
    value: {
      runtimes,
      defaultRuntime: textAt(value, 'default-runtime'),
      cdi: booleanAt(value, 'features', 'cdi'),
      dataRoot: textAt(value, 'data-root') ?? textAt(value, 'graph'),
      liveRestore: booleanAt(value, 'live-restore'),
      keys: Object.keys(treeAt(value) ?? {}).sort(),
      genericResources: stringsAt(value, 'node-generic-resources'),
    },
    unreadable: gaps,
  };
}
