import { parseYaml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { at, booleanAt, isTree, stringsAt, type Tree, textAt } from '../values.ts';

/** What a config.yaml of k3s or rke2 says of runtimes. Other values (tokens, keys) are never kept, only their names. */
export interface K3sConfig {
  keys: string[];
  defaultRuntime: string | null;
  dataDir: string | null;
  nodeName: string | null;
  /** k3s then runs containers by docker, not by its own containerd. */
  docker: boolean | null;
  /** `root-dir` among the arguments for its kubelet. */
  kubeletRootDir: string | null;
}

export function parseK3sConfig(text: string): Parsed<K3sConfig> {
  const document = parseYaml(text);
  if (!document.ok) return unread(`not_yaml: ${document.error}`);
  const value = document.value ?? {};
  if (!isTree(value)) return unread('not_a_mapping');
  return {
    value: {
      keys: Object.keys(value).sort(),
      defaultRuntime: textAt(value, 'default-runtime'),
      dataDir: textAt(value, 'data-dir'),
      nodeName: textAt(value, 'node-name'),
      docker: booleanAt(value, 'docker'),
      kubeletRootDir: kubeletRootDir(value),
    },
    unreadable: [],
  };
}

/** `k3s --version`: `k3s version v1.31.6+k3s1 (6ab750f9)`; rke2 says its own name there. */
export function parseK3sVersion(text: string): string | null {
  return /^(?:k3s|rke2) version (v?\d+\.\d+\.\d+\S*)/m.exec(text)?.[1] ?? null;
}

/** `kubelet-arg` and, in a drop-in, `kubelet-arg+` which adds to it: one text or a list of them. */
function kubeletRootDir(value: Tree): string | null {
  const words = ['kubelet-arg', 'kubelet-arg+'].flatMap((key) => {
    const one = at(value, key);
    return typeof one === 'string' ? [one] : stringsAt(value, key);
  });
  return words.map((word) => /^(?:--)?root-dir=(\/.*)$/.exec(word)?.[1]).find((dir) => dir !== undefined) ?? null;
}
