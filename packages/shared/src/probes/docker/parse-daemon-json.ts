import { parseJson } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { booleanAt, isTree, stringsAt, textAt, treeAt } from '../values.ts';
import { unknownDirectives, wrongDirectives } from './directives.ts';
import type { DockerFact } from './fact.ts';

export type DaemonConfig = NonNullable<DockerFact['config']>;

/** What a daemon.json says, and the names of its keys. */
export interface DaemonJson extends DaemonConfig {
  /** Names that we do not know: dockerd refuses those that it does not know either. */
  unknownKeys: string[];
  /** `node-generic-resources`: how Swarm is told of GPUs. */
  genericResources: string[];
}

/**
 * Judges as dockerd does: it takes an empty file, blanks, a byte order mark and `null`, the last of doubled keys, and
 * no value of a wrong type. A default runtime that no entry names is refused only when dockerd starts.
 */
export function parseDaemonJson(text: string): Parsed<DaemonJson> {
  const document = text.replace(/^\uFEFF/, '').trim() === '' ? ({ ok: true, value: {} } as const) : parseJson(text);
  if (!document.ok) return unread(`not_json: ${document.error}`);
  const value = document.value ?? {};
  if (!isTree(value)) return unread('not_an_object');
  const wrong = wrongDirectives(value);
  if (wrong.length > 0) return unread(`wrong_type: ${wrong.slice(0, 5).join(', ')}`);
  const runtimes = Object.entries(treeAt(value, 'runtimes') ?? {}).map(([name, entry]) => ({
    name,
    binary: textAt(entry, 'path'),
    // Since docker 23 a runtime can be a containerd shim instead of a binary.
    type: textAt(entry, 'runtimeType'),
    systemdCgroup: booleanAt(entry, 'options', 'SystemdCgroup'),
  }));
  return {
    value: {
      runtimes,
      defaultRuntime: textAt(value, 'default-runtime'),
      cdi: booleanAt(value, 'features', 'cdi'),
      features: booleansOf(treeAt(value, 'features') ?? {}),
      cdiSpecDirs: value['cdi-spec-dirs'] == null ? null : stringsAt(value, 'cdi-spec-dirs'),
      cgroupDriver: cgroupDriverOf(stringsAt(value, 'exec-opts')),
      dataRoot: textAt(value, 'data-root') ?? textAt(value, 'graph'),
      liveRestore: booleanAt(value, 'live-restore'),
      keys: Object.keys(value).sort(),
      unknownKeys: unknownDirectives(value).sort(),
      genericResources: stringsAt(value, 'node-generic-resources'),
    },
    unreadable: [],
  };
}

function booleansOf(features: Record<string, unknown>): Record<string, boolean> {
  return Object.fromEntries(
    Object.entries(features).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean'),
  );
}

/** The last one counts. */
function cgroupDriverOf(execOpts: readonly string[]): string | null {
  const prefix = 'native.cgroupdriver=';
  return execOpts.findLast((option) => option.startsWith(prefix))?.slice(prefix.length) || null;
}
