import { isSwitch } from './directives.ts';
import type { DockerFlag } from './fact.ts';
import type { Word } from './parse-unit-command.ts';

const shortNames: Record<string, string> = {
  H: 'host',
  D: 'debug',
  G: 'group',
  l: 'log-level',
  g: 'graph',
  b: 'bridge',
  s: 'storage-driver',
  p: 'pidfile',
};

/** Options whose directive in daemon.json has another name: the file gives a list what the option gives one by one. */
const directives: Record<string, string> = {
  'add-runtime': 'runtimes',
  'allow-nondistributable-artifact': 'allow-nondistributable-artifacts',
  'authorization-plugin': 'authorization-plugins',
  'cdi-spec-dir': 'cdi-spec-dirs',
  'default-address-pool': 'default-address-pools',
  'default-network-opt': 'default-network-opts',
  'default-ulimit': 'default-ulimits',
  'dns-opt': 'dns-opts',
  'exec-opt': 'exec-opts',
  feature: 'features',
  host: 'hosts',
  'insecure-registry': 'insecure-registries',
  label: 'labels',
  'log-opt': 'log-opts',
  'node-generic-resource': 'node-generic-resources',
  'registry-mirror': 'registry-mirrors',
  'storage-opt': 'storage-opts',
};

/** Their values decide something here and hold no password. */
const kept = new Set([
  'config-file',
  'runtimes',
  'default-runtime',
  'data-root',
  'exec-opts',
  'hosts',
  'cdi-spec-dirs',
  'features',
  'containerd',
]);

/** Options of a dockerd command line. The first word is the program. */
export function parseDockerdFlags(words: readonly Word[]): DockerFlag[] {
  const flags: DockerFlag[] = [];
  for (let at = 1; at < words.length; at += 1) {
    const { word, file } = words[at] ?? { word: '', file: '' };
    const [, dashes, name = '', stated] = /^(--?)([A-Za-z][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (dashes === undefined) continue;
    const long = dashes === '-' ? (shortNames[name.slice(0, 1)] ?? name) : name;
    const glued = dashes === '-' && name.length > 1 ? name.slice(1) : undefined;
    let value = stated ?? glued ?? null;
    if (value === null && !isSwitch(long)) {
      value = words[at + 1]?.word ?? null;
      at += 1;
    }
    const directive = directives[long] ?? long;
    flags.push({
      directive,
      flag: dashes === '-' ? `-${name.slice(0, 1)}` : `--${name}`,
      value: kept.has(directive) ? value : null,
      file,
    });
  }
  return flags;
}

/** The last value of an option that counts once. */
export function flagValue(flags: readonly DockerFlag[] | null, directive: string): string | null {
  return flags?.findLast((flag) => flag.directive === directive)?.value ?? null;
}
