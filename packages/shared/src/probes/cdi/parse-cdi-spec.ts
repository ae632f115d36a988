import { parseJson, parseYaml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, isTree, stringAt, stringsAt, treeAt } from '../values.ts';

export interface CdiSpecText {
  kind: string | null;
  cdiVersion: string | null;
  /** Fully qualified. */
  devices: string[];
  /** On the host: device nodes, sources of mounts, programs of hooks. */
  hostPaths: string[];
  driverVersions: string[];
}

/** More devices and paths than sixteen GPUs in seven parts each need. */
const mostDevices = 2_000;
const mostPaths = 5_000;

/** A CDI specification in YAML or JSON. Unknown keys are left to the engine. */
export function parseCdiSpec(text: string): Parsed<CdiSpecText> {
  const isJson = /^\uFEFF?\s*\{/.test(text);
  const document = isJson ? parseJson(text) : parseYaml(text.replace(/^\uFEFF/, ''));
  if (!document.ok) return unread(`${isJson ? 'not_json' : 'not_yaml'}: ${document.error}`);
  const spec = document.value;
  if (!isTree(spec)) return unread('not_an_object');
  const kind = stringAt(spec, 'kind');
  const cdiVersion = stringAt(spec, 'cdiVersion');
  const listed = at(spec, 'devices');
  const entries = Array.isArray(listed) ? (listed as unknown[]).slice(0, mostDevices) : [];
  const names = entries.flatMap((entry) => nameOf(entry) ?? []);
  const paths = [spec, ...entries].flatMap((part) => hostPathsOf(treeAt(part, 'containerEdits')));
  const hostPaths = [...new Set(paths)].slice(0, mostPaths).sort();
  const gaps = [
    ...(kind === null || !/^[^/]+\/[^/]+$/.test(kind) ? [{ path: 'kind', because: 'not_stated' }] : []),
    ...(cdiVersion === null ? [{ path: 'cdiVersion', because: 'not_stated' }] : []),
    ...(!Array.isArray(listed) ? [{ path: 'devices', because: 'not_a_list' }] : []),
  ];
  return {
    value: {
      kind,
      cdiVersion,
      devices: kind === null ? [] : [...new Set(names)].map((name) => `${kind}=${name}`),
      hostPaths,
      driverVersions: [...new Set(hostPaths.flatMap((path) => driverVersionOf(path) ?? []))].sort(),
    },
    unreadable: gaps,
  };
}

/** YAML makes a number of a name that is not quoted: engines refuse it, and people mean the name. */
function nameOf(entry: unknown): string | null {
  const name = at(entry, 'name');
  return typeof name === 'string' ? name : null;
}

function hostPathsOf(edits: unknown): string[] {
  const list = (key: string) => {
    const found = at(edits, key);
    return Array.isArray(found) ? (found as unknown[]) : [];
  };
  const nodes = list('deviceNodes').map((node) => stringAt(node, 'hostPath') ?? stringAt(node, 'path'));
  const mounts = list('mounts')
    // A mount of a kind of its own (tmpfs) has no source on the host.
    .filter((mount) => !stringsAt(mount, 'options').includes('tmpfs') && stringAt(mount, 'type') !== 'tmpfs')
    .map((mount) => stringAt(mount, 'hostPath'));
  const hooks = list('hooks').map((hook) => stringAt(hook, 'path'));
  return [...nodes, ...mounts, ...hooks].filter((path) => path !== null).filter((path) => path.startsWith('/'));
}

/** libEGL_nvidia.so.580.95.05 and /lib/firmware/nvidia/580.95.05/gsp_ga10x.bin; other libraries count in small numbers. */
function driverVersionOf(path: string): string | null {
  return /(?:\.so\.|\/firmware\/nvidia\/)(\d{3}\.\d{2,3}(?:\.\d{2})?)(?:\/|$)/.exec(path)?.[1] ?? null;
}
