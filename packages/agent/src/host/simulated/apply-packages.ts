import { upstream } from '@gpufleet/shared/jobs';
import { builtModule } from './classes/driver.ts';
import { installLibrary, installToolkit, libraryFolder, removeToolkit } from './classes/nvidia.ts';
import { type Machine, nowMs } from './machine.ts';
import { installedPackages } from './packages.ts';
import { startUnit, stopUnit } from './systemd.ts';

/** null: removed. */
export type PackageChanges = ReadonlyMap<string, string | null>;

const toolkit = [
  'libnvidia-container1',
  'libnvidia-container-tools',
  'nvidia-container-toolkit-base',
  'nvidia-container-toolkit',
];

/** dpkg has these packages in these versions now, and the machine what is in them. `status`: where it stopped on the way. */
export function applyPackages(machine: Machine, changes: PackageChanges, status = 'install ok installed'): void {
  const { record } = machine.packages;
  for (const [name, version] of changes) record.set(name, version === null ? null : { version, status });
  const what = [...changes].map(([name, version]) => `${name} ${version ?? 'removed'}`).join(', ');
  machine.effects.push({ atMs: nowMs(machine), do: 'packages', what, ok: true });
  if (status !== 'install ok installed') return;
  settleToolkit(machine);
  settleDocker(machine, changes);
  settleDriver(machine);
  settleHeaders(machine);
}

/** The programs are those of the package -base; with all four at one version nothing is left to remember. */
function settleToolkit(machine: Machine): void {
  const { record } = machine.packages;
  const entries = toolkit.map((name) => record.get(name));
  if (entries.every((entry) => entry === undefined)) return;
  const base = record.get('nvidia-container-toolkit-base');
  if (base === null) removeToolkit(machine);
  else if (base !== undefined) {
    installToolkit(machine, upstream(base.version));
    // Its path unit sees that nvidia-ctk has changed.
    const refresh = machine.units.get('nvidia-cdi-refresh.service');
    if (refresh && !machine.failingUnits.has(refresh.name)) startUnit(machine, refresh);
  }
  const versions = new Set(entries.map((entry) => (entry === null ? null : entry?.version)));
  if (versions.size === 1) for (const name of toolkit) record.delete(name);
}

/** Its scripts restart the daemon. */
function settleDocker(machine: Machine, changes: PackageChanges): void {
  const version = changes.get('docker-ce');
  const unit = machine.units.get('docker.service');
  if (!version || !unit) return;
  machine.versions.docker = upstream(version);
  for (const name of ['docker-ce', 'docker-ce-cli']) machine.packages.record.delete(name);
  stopUnit(machine, unit);
  startUnit(machine, unit);
}

const ofModule = /^nvidia-(dkms|kernel)/;
const ofLibrary = /^(libnvidia-(compute|ml)|libcuda1|nvidia-(utils|compute-utils|smi)|nvidia-utils)/;

function settleDriver(machine: Machine): void {
  const { driver, packages, files } = machine;
  if (!driver) return;
  const all = installedPackages(machine);
  for (const [pattern, part] of [
    [ofModule, 'onDisk'],
    [ofLibrary, 'library'],
  ] as const) {
    const own = all.filter(({ name }) => pattern.test(name));
    const versions = new Set(own.map(({ version }) => upstream(version)));
    const [version] = versions;
    if (version === undefined || versions.size > 1 || version === driver[part]) continue;
    driver[part] = version;
    for (const { name } of own) packages.record.delete(name);
    if (part === 'library') installLibrary(machine, libraryFolder(machine), version);
    else {
      files.remove('/var/lib/dkms/nvidia');
      builtModule(machine, version);
    }
  }
}

function settleHeaders({ packages, files, os }: Machine): void {
  const name = `linux-headers-${os.kernel}`;
  if (packages.record.get(name) === undefined) return;
  if (packages.record.get(name) === null) files.remove(`/usr/src/${name}`);
  else {
    packages.record.delete(name);
    files.putDir(`/usr/src/${name}`);
  }
}
