import { unitFolders as allUnitFolders, localUnitFolder } from '../unit-folders.ts';

/** Both have their containerd listen there. */
export const rancherSocket = '/run/k3s/containerd/containerd.sock';

/** What differs between k3s and rke2: names and places, hardly anything else. */
export interface Distribution {
  name: 'k3s' | 'rke2';
  binaries: readonly string[];
  /** Of the role `server` and of the role `agent`. */
  units: { server: string; agent: string };
  unitFolders: readonly string[];
  defaultDataDir: string;
  configDir: string;
  /** Prefix of the variables in its environment files. */
  variables: string;
  infoArgv: readonly string[];
}

export const k3sDistribution: Distribution = {
  name: 'k3s',
  binaries: ['/usr/local/bin/k3s', '/usr/bin/k3s', '/opt/bin/k3s'],
  units: { server: 'k3s.service', agent: 'k3s-agent.service' },
  unitFolders: [localUnitFolder],
  defaultDataDir: '/var/lib/rancher/k3s',
  configDir: '/etc/rancher/k3s',
  variables: 'K3S_',
  infoArgv: ['k3s', 'crictl', 'info'],
};

export const rke2Distribution: Distribution = {
  name: 'rke2',
  binaries: ['/usr/local/bin/rke2', '/usr/bin/rke2', '/opt/rke2/bin/rke2'],
  units: { server: 'rke2-server.service', agent: 'rke2-agent.service' },
  unitFolders: allUnitFolders,
  defaultDataDir: '/var/lib/rancher/rke2',
  configDir: '/etc/rancher/rke2',
  variables: 'RKE2_',
  // It shares the place of the socket with k3s, and brings crictl along in its data folder.
  infoArgv: ['/var/lib/rancher/rke2/bin/crictl', '--runtime-endpoint', `unix://${rancherSocket}`, 'info'],
};

export function versionArgv({ name }: Distribution): readonly string[] {
  return [name, '--version'];
}

/** One question for both roles: the unit that a host lacks has no lines. */
export function journalArgv({ units }: Distribution): readonly string[] {
  return ['journalctl', '-b', '-u', units.server, '-u', units.agent, '-n', '200', '-o', 'cat', '--no-pager'];
}

/** A data folder may be anywhere: what is read below it, for each depth that is in use. */
export function belowDataDir(distribution: Distribution, paths: readonly string[]): string[] {
  const anywhere = ['/*', '/*/*', '/*/*/*', '/*/*/*/*'];
  return [distribution.defaultDataDir, ...anywhere].flatMap((root) => paths.map((path) => `${root}${path}`));
}

export function unitFiles({ units, unitFolders }: Distribution): string[] {
  return unitFolders.flatMap((folder) => [`${folder}/${units.server}`, `${folder}/${units.agent}`]);
}

/** In the order in which systemd reads them for the unit: a later one wins. */
export function environmentFiles({ units, unitFolders }: Distribution): string[] {
  return [units.server, units.agent].flatMap((unit) => {
    const name = unit.replace(/\.service$/, '');
    return [
      `/etc/default/${name}`,
      `/etc/sysconfig/${name}`,
      ...unitFolders.map((folder) => `${folder}/${name}${folder === localUnitFolder ? '.service' : ''}.env`),
    ];
  });
}
