import type { Machine } from '../machine.ts';
import { debArch, releaseOf } from '../packages.ts';
import { installProgram } from './base.ts';

const list = '/etc/apt/sources.list.d';
const toolkitKeyring = '/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg';
const cudaKeyring = '/usr/share/keyrings/cuda-archive-keyring.gpg';

/** dpkg and apt: where packages come from, by which keys, and that nothing works on them now. */
export function installPackageManager(machine: Machine): void {
  const { files } = machine;
  for (const program of ['dpkg-query', 'dpkg', 'dpkg-deb', 'apt-get', 'apt-cache', 'apt-mark'])
    installProgram(machine, `/usr/bin/${program}`);
  if (machine.driver && !machine.files.has('/etc/nv_tegra_release')) installProgram(machine, '/usr/sbin/dkms');
  files.putDir('/var/lib/dpkg/updates');
  files.putDir('/etc/apt/trusted.gpg.d');
  // A daemon's file lock: not the work of a package manager.
  files.put('/proc/locks', '1: FLOCK  ADVISORY  WRITE 640 00:19:1012 0 EOF\n');
  files.put('/proc/640/comm', 'cron\n');
  const { id, codename, versionId } = releaseOf(machine);
  const arch = debArch(machine);
  const archive = id === 'debian' ? 'http://deb.debian.org/debian' : 'http://archive.ubuntu.com/ubuntu';
  if (codename === 'noble') {
    files.put(
      `${list}/ubuntu.sources`,
      `Types: deb\nURIs: ${archive}/\nSuites: noble noble-updates\nComponents: main restricted universe\nSigned-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg\n`,
    );
  } else {
    files.put(
      '/etc/apt/sources.list',
      `# Main archive\ndeb ${archive} ${codename} main\n# deb-src ${archive} ${codename} main\n`,
    );
  }
  if (files.has('/usr/bin/dockerd')) {
    files.put(
      `${list}/docker.list`,
      `deb [arch=${arch} signed-by=/etc/apt/keyrings/docker.asc] https://download.docker.com/linux/${id} ${codename} stable\n`,
    );
  }
  if (machine.versions.toolkit !== '') {
    files.putBytes(toolkitKeyring, keyring(machine, 'toolkit'));
    files.put(
      `${list}/nvidia-container-toolkit.list`,
      `deb [signed-by=${toolkitKeyring}] https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH) /\n#deb [signed-by=${toolkitKeyring}] https://nvidia.github.io/libnvidia-container/experimental/deb/$(ARCH) /\n`,
    );
  }
  for (const path of repositoryFilesOf(machine)) machine.packages.fetched.add(path);
  if (files.has('/etc/nv_tegra_release')) installJetsonRepository(machine);
  else if (machine.driver) {
    const repository = `${id}${versionId.replace('.', '')}`;
    files.putBytes(cudaKeyring, keyring(machine, 'cuda'));
    files.put(
      `${list}/cuda-${repository}-x86_64.list`,
      `deb [signed-by=${cudaKeyring}] https://developer.download.nvidia.com/compute/cuda/repos/${repository}/x86_64/ /\n`,
    );
  }
}

/** NVIDIA's own key for Jetson stands among those that apt trusts for every repository. */
function installJetsonRepository(machine: Machine): void {
  const { files } = machine;
  const release = /^# R(\d+) .*REVISION: (\d+)/.exec(files.text('/etc/nv_tegra_release') ?? '');
  const suite = `r${release?.[1]}.${release?.[2]}`;
  files.putBytes('/etc/apt/trusted.gpg.d/jetson-ota-public.gpg', keyring(machine, 'jetson'));
  const board = suite.startsWith('r38') ? 't264' : 't234';
  files.put(
    `${list}/nvidia-l4t-apt-source.list`,
    ['common', board].map((part) => `deb https://repo.download.nvidia.com/jetson/${part} ${suite} main\n`).join(''),
  );
}

/** Every file that may name repositories. */
export function repositoryFilesOf({ files }: Machine): string[] {
  const listed = files.list(list);
  const names = listed.ok ? listed.value.map(({ name }) => `${list}/${name}`) : [];
  return [...(files.has('/etc/apt/sources.list') ? ['/etc/apt/sources.list'] : []), ...names];
}

/** A public key packet with a body of its own: every fleet's keys are made up. */
export function keyring(machine: Machine, name: string): string {
  const body = `\u0004${Buffer.from(machine.random.hex(`keyring/${name}`, 128), 'hex').toString('latin1')}`;
  return `\u0099${String.fromCharCode(body.length >> 8, body.length & 0xff)}${body}`;
}
