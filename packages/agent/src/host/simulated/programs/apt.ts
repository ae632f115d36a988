import { applyPackages, type PackageChanges } from '../apply-packages.ts';
import { repositoryFilesOf } from '../classes/packages.ts';
import type { Machine } from '../machine.ts';
import { lockedBy } from '../package-state.ts';
import { debArch, installedPackages, releaseOf } from '../packages.ts';
import { type Answer, complained, type Program, printed } from './program.ts';

const cacheFolder = '/var/cache/apt/gpufleet';
const reading = 'Reading package lists...\nBuilding dependency tree...\nReading state information...\n';

export const aptGet: Program = (machine, args) => {
  const { flags, words, settings } = parse(args);
  const [verb, ...names] = words;
  const conflict = conflictingLists(machine);
  if (conflict !== null) return complained(conflict, 100);
  if (verb === 'update') return update(machine, settings.get('Dir::Etc::sourcelist'));
  if (verb !== 'install' && verb !== 'remove' && verb !== 'purge') return undefined;
  const isDryRun = flags.has('-s');
  if (!isDryRun) {
    const lock = lockedBy(machine);
    if (lock) return locked(lock);
    if (hasJournal(machine) && verb === 'install' && names.length > 0)
      return complained(
        "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem. \n",
        100,
      );
  }
  if (verb === 'install' && flags.has('--reinstall')) return reinstall(machine, names, flags.has('--download-only'));
  const planned = verb === 'install' ? toInstall(machine, names) : new Map(names.map((name) => [name, null]));
  if (typeof planned === 'string') return complained(planned, 100);
  const all = withDependents(machine, planned);
  return isDryRun ? printed(reading + simulation(machine, all)) : change(machine, all, names);
};

function parse(args: readonly string[]) {
  const flags = new Set<string>();
  const words: string[] = [];
  const settings = new Map<string, string>();
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '-o') {
      at += 1;
      const [key = '', ...value] = (args[at] ?? '').split('=');
      settings.set(key, value.join('='));
    } else if (arg.startsWith('-')) flags.add(arg);
    else words.push(arg);
  }
  return { flags, words, settings };
}

function locked({ pid, name }: { pid: number; name: string }): Answer {
  const file = '/var/lib/dpkg/lock-frontend';
  return {
    exitCode: 100,
    stdout: `Waiting for cache lock: Could not get lock ${file}. It is held by process ${pid} (${name})...\n`,
    stderr: `E: Unable to acquire the dpkg frontend lock (${file}), is another process using it?\n`,
  };
}

function hasJournal({ files }: Machine): boolean {
  const listed = files.list('/var/lib/dpkg/updates');
  return listed.ok && listed.value.length > 0;
}

interface Source {
  file: string;
  uri: string;
  signedBy: string | null;
}

function sourcesOf(machine: Machine): Source[] {
  return repositoryFilesOf(machine).flatMap((file) =>
    (machine.files.text(file) ?? '').split('\n').flatMap((line): Source[] => {
      const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)/.exec(line);
      if (!match) return [];
      const signedBy = /signed-by=(\S+)/.exec(match[1] ?? '')?.[1] ?? null;
      return [{ file, uri: (match[2] ?? '').replace(/\/$/, ''), signedBy }];
    }),
  );
}

function conflictingLists(machine: Machine): string | null {
  const sources = sourcesOf(machine);
  const clash = sources.find((one) =>
    sources.some((other) => other.uri === one.uri && other.signedBy !== one.signedBy),
  );
  if (!clash) return null;
  return `E: Conflicting values set for option Signed-By regarding source ${clash.uri}/ /: ${clash.signedBy ?? ''} != \nE: The list of sources could not be read.\n`;
}

function update(machine: Machine, only: string | undefined): Answer {
  const lock = lockedBy(machine);
  if (lock) return locked(lock);
  const sources = sourcesOf(machine).filter(({ file }) => only === undefined || file === only);
  if (machine.network === 'down') {
    const [first] = sources;
    const uri = first?.uri ?? 'http://archive.ubuntu.com/ubuntu';
    return complained(
      `E: Failed to fetch ${uri}/InRelease  Could not resolve '${new URL(uri.replace('$(ARCH)', 'amd64')).hostname}'\nE: Some index files failed to download. They have been ignored, or old ones used instead.\n`,
      100,
    );
  }
  const unverified = sources.find(
    ({ signedBy }) => signedBy !== null && !machine.files.has(signedBy) && /nvidia/.test(signedBy),
  );
  if (unverified)
    return complained(
      `W: GPG error: ${unverified.uri}  InRelease: The following signatures couldn't be verified because the public key is not available: NO_PUBKEY DDCAE044F796ECB0\nE: The repository '${unverified.uri}  InRelease' is not signed.\n`,
      100,
    );
  for (const { file } of sources) machine.packages.fetched.add(file);
  return printed('Hit:1 https://example.com  InRelease\nReading package lists...\n');
}

/** Versions that the fetched lists have of a package, newest first. */
export function offered(machine: Machine, name: string): string[] {
  const { dropped, fetched } = machine.packages;
  const { id, versionId, codename } = releaseOf(machine);
  const build = `${id}.${versionId}~${codename}`;
  const installed = installedPackages(machine).find((one) => one.name === name)?.version;
  const hasToolkit = sourcesOf(machine).some(
    ({ file, uri, signedBy }) =>
      fetched.has(file) &&
      /libnvidia-container\/stable\/deb/.test(uri) &&
      signedBy !== null &&
      machine.files.has(signedBy),
  );
  const found = () => {
    if (/^(libnvidia-container|nvidia-container-toolkit)/.test(name))
      return hasToolkit ? ['1.18.1-1', '1.18.0-1', '1.17.8-1', '1.17.7-1', '1.16.2-1'] : [];
    if (/^docker-ce(-cli)?$/.test(name))
      return ['28.3.3', '27.5.1', '26.1.4'].map((version) => `5:${version}-1~${build}`);
    if (name === `linux-headers-${machine.os.kernel}`) return [installed ?? '6.8.0-60.63'];
    if (installed === undefined) return [];
    const { driver } = machine;
    const other = driver && [driver.onDisk, driver.library].map((version) => installed.replace(/^[\d.]+/, version));
    return /nvidia|libcuda/.test(name) && other ? [...new Set(other)].sort().reverse() : [installed];
  };
  return found().filter((version) => !dropped.has(`${name}=${version}`));
}

export const aptCache: Program = (machine, [verb, ...names]) => {
  const conflict = conflictingLists(machine);
  if (conflict !== null) return complained(conflict, 100);
  if (verb === 'madison') {
    const rows = names.flatMap((name) =>
      offered(machine, name).map(
        (version) => `${name.padStart(10)} | ${version.padStart(10)} | https://example.com  Packages\n`,
      ),
    );
    return printed(rows.join(''));
  }
  if (verb !== 'policy') return undefined;
  const installed = installedPackages(machine);
  return printed(
    names
      .map((name) => {
        const now = installed.find((one) => one.name === name)?.version ?? '(none)';
        return `${name}:\n  Installed: ${now}\n  Candidate: ${offered(machine, name)[0] ?? '(none)'}\n  Version table:\n`;
      })
      .join(''),
  );
};

function toInstall(machine: Machine, specs: readonly string[]): Map<string, string | null> | string {
  const planned = new Map<string, string | null>();
  for (const spec of specs) {
    if (spec.startsWith('/')) {
      const [, name = '', version = ''] = (machine.files.text(spec) ?? '').split(' ');
      if (name === '') return `E: Unsupported file ${spec} given on commandline\n`;
      planned.set(name, version);
      continue;
    }
    const [name = '', version] = spec.split('=');
    const versions = offered(machine, name);
    if (versions.length === 0) return `E: Unable to locate package ${name}\n`;
    if (version !== undefined && !versions.includes(version))
      return `E: Version '${version}' for '${name}' was not found\n`;
    planned.set(name, version ?? versions[0] ?? null);
  }
  const held = [...planned.keys()].filter((name) => machine.packages.held.has(name));
  return held.length > 0
    ? 'E: Held packages were changed and -y was used without --allow-change-held-packages.\n'
    : planned;
}

/** What depends on a package goes with it. */
function withDependents(machine: Machine, planned: PackageChanges): PackageChanges {
  const isRemoved = (name: string) => planned.has(name) && planned.get(name) === null;
  const wrapper = installedPackages(machine).find(({ name }) => name === 'nvidia-docker2');
  return wrapper && isRemoved('nvidia-container-toolkit') ? new Map([...planned, [wrapper.name, null]]) : planned;
}

function simulation(machine: Machine, planned: PackageChanges): string {
  const installed = installedPackages(machine);
  return [...planned]
    .map(([name, version]) => {
      const now = installed.find((one) => one.name === name)?.version;
      if (version === null) return now === undefined ? '' : `Remv ${name} [${now}]\n`;
      return `Inst ${name} ${now === undefined ? '' : `[${now}] `}(${version} NVIDIA [${debArch(machine)}])\nConf ${name} (${version} NVIDIA [${debArch(machine)}])\n`;
    })
    .join('');
}

function change(machine: Machine, planned: PackageChanges, specs: readonly string[]): Answer {
  if (machine.disk !== 'ok')
    return complained("E: You don't have enough free space in /var/cache/apt/archives/.\n", 100);
  const isFetched = specs.some((spec) => spec.includes('='));
  if (machine.network === 'down' && isFetched)
    return complained("E: Failed to fetch https://nvidia.github.io/x.deb  Could not resolve 'nvidia.github.io'\n", 100);
  if (machine.packages.isKilledHalfWay) {
    machine.packages.isKilledHalfWay = false;
    applyPackages(machine, planned, 'install ok unpacked');
    machine.files.put('/var/lib/dpkg/updates/0001', 'Package: x\n');
    return complained('E: Sub-process /usr/bin/dpkg exited unexpectedly\n', 100);
  }
  if (planned.size > 0) applyPackages(machine, planned);
  return printed(reading);
}

function reinstall(machine: Machine, specs: readonly string[], isKept: boolean): Answer {
  const said: string[] = [];
  for (const spec of specs) {
    const [name = '', version = ''] = spec.split('=');
    if (!offered(machine, name).includes(version)) {
      said.push(`Reinstallation of ${name} is not possible, it cannot be downloaded.\n`);
      continue;
    }
    if (machine.network === 'down')
      return complained(`E: Failed to fetch https://example.com/${name}.deb  Could not resolve 'example.com'\n`, 100);
    const file = `${cacheFolder}/${name}_${version.replace(':', '%3a')}_${debArch(machine)}.deb`;
    if (isKept) machine.files.put(file, `deb ${name} ${version} ${debArch(machine)}`);
  }
  return printed(reading + said.join(''));
}

export const aptMark: Program = (machine, [verb, ...names]) => {
  if (verb !== 'hold' && verb !== 'unhold') return undefined;
  const { held } = machine.packages;
  const said = names.map((name) => {
    const changes = held.has(name) !== (verb === 'hold');
    if (changes)
      machine.effects.push({ atMs: machine.clock.nowMs(), do: 'packages', what: `${verb} ${name}`, ok: true });
    if (verb === 'hold') held.add(name);
    else held.delete(name);
    const now = verb === 'hold' ? 'set on hold' : 'no longer on hold';
    return changes
      ? `${name} ${now === 'set on hold' ? now : `was ${now}`}.\n`
      : `${name} was already ${verb === 'hold' ? 'set on hold' : 'not on hold'}.\n`;
  });
  return printed(said.join(''));
};

/** `dpkg --configure -a`: what was unpacked is configured, and the journal carried over. */
export const dpkg: Program = (machine, args) => {
  if (!args.includes('--configure') || !args.includes('-a')) return undefined;
  const lock = lockedBy(machine);
  if (lock)
    return complained(`dpkg: error: dpkg frontend lock was locked by another process with pid ${lock.pid}\n`, 2);
  const updates = machine.files.list('/var/lib/dpkg/updates');
  for (const { name } of updates.ok ? updates.value : []) machine.files.remove(`/var/lib/dpkg/updates/${name}`);
  const left = [...machine.packages.record].flatMap(([name, entry]) =>
    entry !== null && /unpacked|half/.test(entry.status) ? [[name, entry.version] as const] : [],
  );
  if (left.length > 0) applyPackages(machine, new Map(left));
  return printed(left.map(([name, version]) => `Setting up ${name} (${version}) ...\n`).join(''));
};

export const dpkgDeb: Program = (machine, [option, path = '', ...fields]) => {
  if (option !== '-f') return undefined;
  const [kind, name = '', version = '', arch = ''] = (machine.files.text(path) ?? '').split(' ');
  if (kind !== 'deb') return complained(`dpkg-deb: error: '${path}' is not a Debian format archive\n`, 2);
  const values: Record<string, string> = { Package: name, Version: version, Architecture: arch };
  return printed(fields.map((field) => `${field}: ${values[field] ?? ''}\n`).join(''));
};
