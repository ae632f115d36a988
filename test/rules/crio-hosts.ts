import { type Changes, type Observed, observeChanged } from './changed-host.ts';

export const conf = '/etc/crio/crio.conf';
export const status = 'crio status config';

export function handler(name: string, path: string): string {
  return `[crio.runtime.runtimes.${name}]\nruntime_path = "${path}"\nruntime_type = "oci"\n`;
}

export const crun = `[crio.runtime]\ndefault_runtime = "crun"\n${handler('crun', '/usr/bin/crun')}`;
export const nvidia = handler('nvidia', '/usr/bin/nvidia-container-runtime');

/** A Kubernetes worker whose CRI-O has one short file, and nvidia in a drop-in and in the live daemon. */
export function observeCrio(...changes: Changes[]): Promise<Observed> {
  const short: Changes = {
    files: {
      '/etc/crio/crio.conf.d/10-crio.conf': null,
      [conf]: { text: crun, as: { mtimeMs: 1_700_000_000_000 } },
      '/etc/crio/crio.conf.d/99-nvidia.toml': { text: nvidia, as: { mtimeMs: 1_700_000_000_000 } },
    },
    commands: { [status]: crun + nvidia },
  };
  return observeChanged('crio-worker', short, ...changes);
}
