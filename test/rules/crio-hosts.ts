import { type Changes, type Observed, observeChanged } from './changed-host.ts';
import { containerdProcess, kubeletConfig, units } from './containerd-hosts.ts';

export const conf = '/etc/crio/crio.conf';
export const status = 'crio status config';

export function handler(name: string, path: string): string {
  return `[crio.runtime.runtimes.${name}]\nruntime_path = "${path}"\nruntime_type = "oci"\n`;
}

export const crun = `[crio.runtime]\ndefault_runtime = "crun"\n${handler('crun', '/usr/bin/crun')}`;
export const nvidia = handler('nvidia', '/usr/bin/nvidia-container-runtime');

/** A Kubernetes worker whose pods are run by CRI-O, with nvidia in `crio.conf.d` and in the live daemon. */
export function observeCrio(...changes: Changes[]): Promise<Observed> {
  const worker: Changes = {
    files: {
      '/usr/bin/containerd': null,
      [containerdProcess('x86-containerd-2')]: null,
      '/etc/containerd': null,
      '/usr/bin/crio': 'ELF',
      [conf]: { text: crun, as: { mtimeMs: 1_700_000_000_000 } },
      '/etc/crio/crio.conf.d/99-nvidia.toml': { text: nvidia, as: { mtimeMs: 1_700_000_000_000 } },
      [kubeletConfig]: (text) => text.replace('/run/containerd/containerd.sock', '/var/run/crio/crio.sock'),
    },
    absent: ['containerd', 'ctr'],
    commands: {
      'crio --version': 'crio version 1.31.2\n',
      [status]: crun + nvidia,
      [units]: (text) => {
        const started = /^Id=containerd\.service\n(?:.+\n)*?ActiveEnterTimestamp=(\S+)/m.exec(text)?.[1] ?? '';
        return text
          .replace(/^Id=crio\.service\n(?:.*\n)*?(?=Id=|$)/m, '')
          .concat(
            `\nId=crio.service\nLoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\nActiveEnterTimestamp=${started}\nMainPID=900\nResult=success\n`,
          );
      },
    },
  };
  return observeChanged('x86-containerd-2', worker, ...changes);
}
