import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import { type Gap, isCut } from '../parsed.ts';
import { runCommand } from '../run-command.ts';
import type { HostPackage, PackagesFact } from './fact.ts';
import { packageGroup } from './package-group.ts';
import { dpkgQueryArgv, isBroken, type ListedPackage, parseDpkgQuery, parseRpmList, rpmArgv } from './parse-dpkg.ts';
import { parseVersionLockList, parseVersionLockToml } from './parse-version-locks.ts';
import { busyFiles, readBusy } from './read-busy.ts';
import { readKeyrings, readRepositories, repositoryFiles } from './read-repositories.ts';

const journalFolder = '/var/lib/dpkg/updates';
const rebootMark = '/run/reboot-required';
const rebootPackages = '/run/reboot-required.pkgs';
const uninstaller = '/usr/bin/nvidia-uninstall';
const imageMark = '/run/ostree-booted';
const lockLists = ['/etc/dnf/plugins/versionlock.list', '/etc/yum/pluginconf.d/versionlock.list'];
const lockToml = '/etc/dnf/versionlock.toml';

const maxPackages = 1_000;
const maxBroken = 100;

export const packagesProbe = defineProbe({
  key: 'packages',
  title: 'Packages of driver, toolkit, engines, kernel and Jetson; broken ones, holds, repositories and their keys',
  everyMs: 600_000,
  inputs: {
    files: [
      journalFolder,
      rebootMark,
      rebootPackages,
      uninstaller,
      imageMark,
      ...lockLists,
      lockToml,
      ...repositoryFiles,
      ...busyFiles,
    ],
    commands: [
      { argv: dpkgQueryArgv, required: false },
      { argv: rpmArgv, required: false },
    ],
  },
  async collect({ host, sha256 }) {
    const partial: Gap[] = [];
    const listed = await readPackages(host);
    if (!listed.ok) return { value: null, unreadable: { because: listed.because, detail: listed.detail } };
    const { manager, packages } = listed;
    const { repositories, repositoryFiles } = await readRepositories(host, sha256, partial);
    const journal = manager === 'dpkg' ? await host.listDir(journalFolder) : null;
    if (journal?.ok === false && journal.because !== 'absent')
      partial.push({ path: 'interrupted', because: journal.because });
    const busy = await readBusy(host);
    if (busy === null) partial.push({ path: 'busy', because: 'no_locks' });
    const value: PackagesFact = {
      manager,
      packages: packages.flatMap(toHostPackage).sort(byName).slice(0, maxPackages),
      broken: packages
        .filter(isBroken)
        .map(({ name, state, needsReinstall }) => ({
          name,
          state: needsReinstall ? `${state}, reinstall required` : state,
        }))
        .slice(0, maxBroken),
      interrupted: journal === null ? null : journal.ok && journal.value.some(({ name }) => /^\d+$/.test(name)),
      repositories,
      repositoryFiles,
      keyrings: await readKeyrings(host, repositories, partial),
      busy,
      rebootRequiredBy: await readRebootRequired(host),
      driverInstalledByRunfile: (await host.stat(uninstaller)).ok,
      imageBased: (await host.stat(imageMark)).ok,
    };
    return { value, unreadable: null, partial };
  },
});

type Listed =
  | { ok: true; manager: PackagesFact['manager']; packages: ListedPackage[] }
  | { ok: false; because: string; detail: string };

/** dpkg where it knows any package: some systems of rpm have its programs too. */
async function readPackages(host: HostReader): Promise<Listed> {
  const dpkg = await runCommand(host, dpkgQueryArgv);
  if (dpkg.ok && isCut(dpkg.text)) return halfAList;
  const packages = dpkg.ok ? parseDpkgQuery(dpkg.text) : [];
  if (packages.length > 0) return { ok: true, manager: 'dpkg', packages };
  if (!dpkg.ok && dpkg.because !== 'absent') return dpkg;
  const rpm = await runCommand(host, rpmArgv);
  if (!rpm.ok && rpm.because !== 'absent') return rpm;
  if (rpm.ok) {
    if (isCut(rpm.text)) return halfAList;
    const locked = await readVersionLocks(host);
    const found = parseRpmList(rpm.text, (name) => locked.has(name));
    if (found.length > 0) return { ok: true, manager: 'rpm', packages: found };
  }
  if (dpkg.ok || rpm.ok) return { ok: false, because: 'no_answer', detail: 'the package manager lists no package' };
  return { ok: true, manager: null, packages: [] };
}

/** What such a list does not have may be installed all the same. */
const halfAList = { ok: false, because: 'truncated', detail: 'the list of packages ends within a line' } as const;

async function readVersionLocks(host: HostReader): Promise<Set<string>> {
  const names: string[] = [];
  for (const path of [...lockLists, lockToml]) {
    const read = await host.readText(path, { maxBytes: 1_000_000 });
    if (read.ok) names.push(...(path === lockToml ? parseVersionLockToml : parseVersionLockList)(read.value));
  }
  return new Set(names);
}

function toHostPackage({ name, version, arch, state, held }: ListedPackage): HostPackage[] {
  const group = packageGroup(name);
  // Of these only settings are left, or a choice.
  if (group === null || state === 'config-files' || state === 'not-installed') return [];
  return [{ name, version, arch, group, state, held }];
}

/** rpm lists in the order of installation. */
function byName(a: HostPackage, b: HostPackage): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

async function readRebootRequired(host: HostReader): Promise<string[] | null> {
  if (!(await host.stat(rebootMark)).ok) return null;
  const read = await host.readText(rebootPackages, { maxBytes: 100_000 });
  if (!read.ok) return [];
  return [...new Set(read.value.split(/\r?\n/).map((line) => line.trim()))].filter((name) => name !== '').slice(0, 100);
}
