import type { Process } from '../read-processes.ts';
import type { ContainerdInstance } from './fact.ts';

/** What a command line of containerd says of where it reads and listens. */
export interface ContainerdOptions {
  config: string | null;
  address: string | null;
  root: string | null;
}

/** `-c`, `--config`, `-a`, `--address`, `--root` in either spelling; the last one wins, as with its own parser. */
export function parseContainerdOptions(argv: readonly string[]): ContainerdOptions {
  const options: ContainerdOptions = { config: null, address: null, root: null };
  const names: Record<string, keyof ContainerdOptions> = {
    c: 'config',
    config: 'config',
    a: 'address',
    address: 'address',
    root: 'root',
  };
  for (const [at, word] of argv.entries()) {
    const match = /^--?([a-z]+)(?:=(.*))?$/.exec(word);
    const key = names[match?.[1] ?? ''];
    const value = match?.[2] ?? argv[at + 1];
    if (at > 0 && key !== undefined && value !== undefined && value !== '') options[key] = value;
  }
  return options;
}

/** ExecStart of a unit file and its drop-ins, in the order in which systemd reads them: an empty one clears the others. */
export function parseExecStart(texts: readonly string[]): string[] {
  let argv: string[] = [];
  for (const text of texts)
    for (const line of text.replace(/\\\r?\n/g, ' ').split(/\r?\n/)) {
      const command = /^\s*ExecStart\s*=(.*)$/.exec(line)?.[1]?.trim();
      // Signs before the program say how it is run; quotes are not part of a word.
      if (command !== undefined)
        argv = command
          .replace(/^[-@:+!|]+/, '')
          .split(/\s+/)
          .map((word) => word.replaceAll(/["']/g, ''))
          .filter((word) => word !== '');
    }
  return argv;
}

/** Who brought this process: by its unit first, then by where its program and its files lie. */
export function ownerOf({ exe, unit, inContainer }: Process, { config, address }: ContainerdOptions): Of {
  if (inContainer) return 'container';
  const where = [unit ?? '', exe ?? '', config ?? '', address ?? ''];
  const any = (pattern: RegExp) => where.some((text) => pattern.test(text));
  if (any(/^snap\.microk8s\.|^\/(snap|var\/snap)\/microk8s\//)) return 'microk8s';
  if (any(/^rke2[-.]|\/rancher\/rke2\//)) return 'rke2';
  if (any(/^k3s[-.]|\/rancher\/k3s\/|^\/run\/k3s\//)) return 'k3s';
  if (any(/^docker\.service$|^snap\.docker\.|\/run\/(snap\.)?docker\/containerd\//)) return 'docker';
  return 'host';
}

type Of = ContainerdInstance['of'];
