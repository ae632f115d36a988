import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failuresArgv, reloadArgv } from '../../packages/shared/src/probes/workloads/index.ts';
import type { Changes, FileChange } from './changed-host.ts';

type DockerClass = 'x86-docker' | 'a100-mig' | 'orin' | 'thor';

const folder = '/var/lib/docker/containers';

/** Path of the folder of the class's container that uses a GPU. */
function gpuContainerOf(className: DockerClass): string {
  const recorded = join(import.meta.dirname, '../hosts/recorded', className, 'root', folder);
  const id = readdirSync(recorded).find((name) =>
    readFileSync(join(recorded, name, 'config.v2.json'), 'utf8').includes('"/inference"'),
  );
  if (id === undefined) throw new Error(`${className} has no container named inference`);
  return `${folder}/${id}`;
}

interface Container {
  state?: object;
  config?: { Image?: string; Env?: string[] };
  host?: object;
}

/** The GPU container of a class with these parts changed. */
export function changedContainer(className: DockerClass, { state, config, host }: Container): Changes {
  const path = gpuContainerOf(className);
  const merge =
    (change: object): FileChange =>
    (text) => {
      const before = JSON.parse(text);
      const merged = Object.entries(change).map(([key, value]) => [
        key,
        typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...before[key], ...value } : value,
      ]);
      return JSON.stringify({ ...before, ...Object.fromEntries(merged) });
    };
  return {
    files: {
      [`${path}/config.v2.json`]: merge({ ...(state ? { State: state } : {}), ...(config ? { Config: config } : {}) }),
      ...(host ? { [`${path}/hostconfig.json`]: merge(host) } : {}),
    },
  };
}

/** It did not start, and dockerd kept why. */
export function failedContainer(className: DockerClass, error: string, config: Container['config'] = {}): Changes {
  const why = `failed to create task for container: OCI runtime create failed: error running hook: ${error}: unknown`;
  return changedContainer(className, { state: { Running: false, ExitCode: 128, Error: why }, config });
}

/** Engines said this in their journal, an hour or so before the host was read. */
export function journalSays(...messages: string[]): Changes {
  const lines = messages.map(
    (message, at) => `${1_780_310_000 + at}.000000 host-1 dockerd[812]: level=error msg="${message}"\n`,
  );
  return { argv: [{ argv: failuresArgv, answer: lines.join('') }] };
}

/** systemd loaded its units anew at this moment. */
export function reloadedAt(atMs: number): Changes {
  const line = `${(atMs / 1000).toFixed(6)} host-1 systemd[1]: Reloading requested from client PID 4242...\n`;
  return { argv: [{ argv: reloadArgv, answer: line }] };
}

/** Neither docker's folder nor the journal may be read. */
export const nothingTells: Changes = {
  files: { '/var/lib/docker/containers': { special: { type: 'dir' }, as: { error: 'EACCES' } } },
  argv: [
    {
      argv: failuresArgv,
      answer: { exitCode: 1, stderr: 'No journal files were opened due to insufficient permissions.\n' },
    },
  ],
};

/** The main process of a class's GPU container, as the kernel tells its rights. */
export function processOf(className: DockerClass, uid: number, groups: readonly number[]): Changes {
  const config = join(
    import.meta.dirname,
    '../hosts/recorded',
    className,
    'root',
    gpuContainerOf(className),
    'config.v2.json',
  );
  const { Pid } = (JSON.parse(readFileSync(config, 'utf8')) as { State: { Pid: number } }).State;
  const ids = (id: number) => `\t${id}\t${id}\t${id}\t${id}\n`;
  return {
    files: { [`/proc/${Pid}/status`]: `Name:\tpython3\nUid:${ids(uid)}Gid:${ids(uid)}Groups:\t${groups.join(' ')} \n` },
  };
}
