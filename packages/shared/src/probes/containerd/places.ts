import { rancherSocket } from '../k3s/distribution.ts';
import { microk8sSocket, snapCommon, snapData } from '../microk8s/microk8s-paths.ts';
import { localUnitFolder, unitFolders } from '../unit-folders.ts';

/** Where programs and configurations of containerd lie. */

/** In the order of a service's search path; programs elsewhere are known by their processes. */
export const binaries = [
  '/usr/local/sbin/containerd',
  '/usr/local/bin/containerd',
  '/usr/sbin/containerd',
  '/usr/bin/containerd',
  '/opt/bin/containerd',
];
/** A folder that is a link to another has no programs of its own. */
export const binaryFolders = binaries.map((path) => path.slice(0, path.lastIndexOf('/')));

export const defaultConfig = '/etc/containerd/config.toml';
export const defaultAddress = '/run/containerd/containerd.sock';
export const defaultRoot = '/var/lib/containerd';

/** Beside the default: configurations that a command line names, and their drop-ins, one folder further down. */
export const configFiles = [
  defaultConfig,
  '/etc/containerd',
  '/etc/containerd/*',
  '/etc/containerd/*/*',
  ...['/etc', '/opt', '/usr/local/etc'].flatMap((top) => [`${top}/*/*.toml`, `${top}/*/*.d`, `${top}/*/*/*.toml`]),
];
/** dockerd writes it for the containerd that it starts itself. */
export const dockerChildConfig = '/var/run/docker/containerd/containerd.toml';

export const unitFiles = unitFolders.map((folder) => `${folder}/containerd.service`);
export const unitDropIns = `${localUnitFolder}/containerd.service.d`;

/** What a distribution's own containerd uses where its command line does not say. */
export const distributionPlaces = {
  k3s: {
    config: '/var/lib/rancher/k3s/agent/etc/containerd/config.toml',
    address: rancherSocket,
    root: '/var/lib/rancher/k3s/agent/containerd',
  },
  rke2: {
    config: '/var/lib/rancher/rke2/agent/etc/containerd/config.toml',
    address: rancherSocket,
    root: '/var/lib/rancher/rke2/agent/containerd',
  },
  microk8s: {
    config: `${snapData}/args/containerd.toml`,
    address: microk8sSocket,
    root: `${snapCommon}/var/lib/containerd`,
  },
  docker: {
    config: dockerChildConfig,
    address: '/var/run/docker/containerd/containerd.sock',
    root: '/var/lib/docker/containerd/daemon',
  },
} as const;
