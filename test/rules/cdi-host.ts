import type { Changes } from './changed-host.ts';
import { toolkitConfig } from './docker-host.ts';

/** A specification in the manner of nvidia-ctk, of one GPU, that mounts these files. */
export function cdiSpec(paths: readonly string[] = [], change: { version?: string; kind?: string } = {}): string {
  const mounts = paths.map((path) => `  - containerPath: ${path}\n    hostPath: ${path}\n`).join('');
  return `---
cdiVersion: ${change.version ?? '0.5.0'}
kind: ${change.kind ?? 'nvidia.com/gpu'}
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
${mounts === '' ? '' : `  mounts:\n${mounts}`}devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
`;
}

export const library = (version: string) => `/usr/lib/x86_64-linux-gnu/libEGL_nvidia.so.${version}`;

export const modeCdi: Changes = {
  files: { [toolkitConfig]: (text) => text.replace('mode = "auto"', 'mode = "cdi"') },
};

/** Podman in the place of docker's command, and no docker. */
export const podmanAsDocker: Changes = {
  files: {
    '/usr/bin/dockerd': null,
    '/usr/bin/docker': { link: 'podman' },
    '/usr/bin/podman': 'ELF',
  },
  absent: ['dockerd', 'docker'],
};
