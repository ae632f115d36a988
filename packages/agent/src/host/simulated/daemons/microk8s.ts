import { type Machine, nowMs } from '../machine.ts';
import type { Started } from '../unit.ts';
import { criOf, type LiveCri } from './containerd.ts';
import { loadContainerdConfig } from './containerd-config.ts';

/** Revision of the snap: `current` leads to it. */
export const microk8sRevision = '8148';
export const microk8sSnap = `/snap/microk8s/${microk8sRevision}`;
export const microk8sData = `/var/snap/microk8s/${microk8sRevision}`;
export const microk8sCommon = '/var/snap/microk8s/common';
export const microk8sTemplate = `${microk8sData}/args/containerd-template.toml`;
export const microk8sRendered = `${microk8sData}/args/containerd.toml`;
export const microk8sEndpoint = `${microk8sCommon}/run/containerd.sock`;

export interface LiveMicrok8s {
  cri: LiveCri;
}

/** Its start script fills the template in, whatever was edited in the file that comes of it. */
export function startMicrok8sContainerd(machine: Machine): Started {
  const template = machine.files.text(microk8sTemplate);
  if (template === undefined)
    return { ok: false, log: `cp: cannot stat '${microk8sTemplate}': No such file or directory` };
  const values: Record<string, string> = {
    SNAPSHOTTER: 'overlayfs',
    RUNTIME: 'runc',
    RUNTIME_TYPE: 'io.containerd.runc.v2',
    SNAP_DATA: microk8sData,
  };
  const text = template.replace(/\$\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  if (machine.disk !== 'ok')
    return { ok: false, log: `cp: error writing '${microk8sRendered}': No space left on device` };
  machine.files.put(microk8sRendered, text, { mode: 0o660, mtimeMs: nowMs(machine) });
  const loaded = loadContainerdConfig(machine.files, microk8sRendered, 1, { fileRequired: true });
  if (!loaded.ok) return loaded;
  machine.live.microk8s = { cri: criOf(loaded, 1) };
  return { ok: true };
}
