import { parseYaml } from '../parse-document.ts';
import { type Parsed, unread } from '../parsed.ts';
import { booleanAt, isTree, textAt } from '../values.ts';

/** What a k3s config.yaml says of container runtimes. Other values (tokens, keys) are never kept, only their names. */
export interface K3sConfig {
  keys: string[];
  defaultRuntime: string | null;
  dataDir: string | null;
  nodeName: string | null;
  /** k3s then runs containers by docker, not by its own containerd. */
  docker: boolean | null;
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
    },
    unreadable: [],
  };
}

/** `k3s --version`: `k3s version v1.31.6+k3s1 (6ab750f9)`. */
export function parseK3sVersion(text: string): string | null {
  return /^k3s version (v?\d+\.\d+\.\d+\S*)/m.exec(text)?.[1] ?? null;
}
