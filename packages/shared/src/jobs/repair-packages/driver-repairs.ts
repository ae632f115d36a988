import type { Also } from '../define-job.ts';
import { changePackages, whyChange } from '../packages/change-packages.ts';
import { compareVersions, type Packages, packageTimeoutMs, upstream } from '../packages/package-questions.ts';
import { reason } from '../plan-parts.ts';
import type { PackageManager, PlanReason, Step } from '../step.ts';
import type { RepairPackagesParams } from './params.ts';

export interface Repairs {
  steps: Step[];
  because: PlanReason[];
  /** What stands against a repair that is needed. */
  problems: PlanReason[];
}

type Params = Pick<RepairPackagesParams, 'driverVersion' | 'withoutWayBack'>;

/** Versions of their own beside the driver's: tools, and libraries for containers with a newer CUDA. */
const others =
  /^(cuda-compat|nvidia-(settings|modprobe|persistenced|xconfig|installer-cleanup|support|prime)|xserver-)/;
const driverVersion = /^(?:\d+:)?(\d{3}\.\d+(?:\.\d+)?)(?![\d.])/;

interface DriverPackage {
  name: string;
  driver: string;
}

/** Packages that must all be of the one version that the driver has. */
function driverPackages({ packages }: Packages): DriverPackage[] {
  return packages.flatMap(({ name, version, group }) => {
    const driver = driverVersion.exec(version)?.[1];
    return group === 'driver' && driver !== undefined && !others.test(name) ? [{ name, driver }] : [];
  });
}

/** Everything of the driver at one version: what is loaded where that is among them, since then nothing has to be reloaded. */
export function repairDriverVersions(packages: Packages, manager: PackageManager, params: Params, also: Also): Repairs {
  const own = driverPackages(packages);
  const versions = [...new Set(own.map(({ driver }) => driver))].sort(compareVersions);
  const loaded = also.driver?.loadedVersion ?? null;
  const target =
    params.driverVersion ?? (loaded !== null && versions.includes(loaded) ? loaded : (versions.at(-1) ?? null));
  const wrong = own.filter(({ driver }) => driver !== target);
  if (target === null || wrong.length === 0) return nothing;
  const branch = target.split('.')[0];
  const foreign = wrong.filter(({ name }) => branchOf(name) !== null && branchOf(name) !== branch);
  if (foreign.length > 0) {
    const listed = foreign.map(({ name, driver }) => `${name} ${driver}`).join(', ');
    const detail = `packages of another branch than ${target}: ${listed}; a person chooses the branch and takes the other away`;
    return { ...nothing, problems: [reason('driver_branches_mixed', detail)] };
  }
  const change = {
    names: wrong.map(({ name }) => name),
    version: target,
    hold: false,
    folder: null,
    withoutWayBack: params.withoutWayBack,
  };
  return { steps: changePackages(packages, manager, change), because: whyChange(packages, change), problems: [] };
}

/** `libnvidia-compute-550` → 550. */
function branchOf(name: string): string | null {
  return /-(\d{3})(?:-|$)/.exec(name)?.[1] ?? null;
}

/** The fabric manager of exactly the loaded driver's version, where there are switches to manage. */
export function repairFabricManager(packages: Packages, manager: PackageManager, params: Params, also: Also): Repairs {
  const loaded = also.driver?.loadedVersion ?? null;
  const { fabric } = also;
  if (!fabric || loaded === null || fabric.nvswitches.length === 0) return nothing;
  if (fabric.managerVersion === loaded || (fabric.managerUnit !== null && fabric.managerVersion === null))
    return nothing;
  const installed = packages.packages.find(({ name }) => /^nvidia-fabric-?manager(-\d+)?$/.test(name));
  // Of another driver's version already: the driver's own repair brings it along.
  if (installed && upstream(installed.version) === loaded) return nothing;
  const branch = loaded.split('.')[0];
  const name =
    installed && (branchOf(installed.name) ?? branch) === branch
      ? installed.name
      : manager === 'apt'
        ? `nvidia-fabricmanager-${branch}`
        : 'nvidia-fabricmanager';
  const change = { names: [name], version: loaded, hold: false, folder: null, withoutWayBack: params.withoutWayBack };
  return { steps: changePackages(packages, manager, change), because: whyChange(packages, change), problems: [] };
}

/** A module for the kernel that runs: its headers first, then what DKMS has sources of. */
export function repairModule(packages: Packages, manager: PackageManager, params: Params, also: Also): Repairs {
  const { driver } = also;
  const kernel = driver?.runningKernel ?? null;
  const running = driver?.kernels.find((one) => one.running);
  if (!driver || kernel === null || driver.libraryPath === null) return nothing;
  const isThere = driver.onDiskVersion !== null || (running?.modules.includes('nvidia') ?? false);
  const sources = driver.dkms
    .filter(({ name }) => /^nvidia/.test(name))
    .sort((a, b) => compareVersions(b.version, a.version));
  const source = sources.find(({ version }) => version === driver.libraryVersion) ?? sources[0];
  const isStale =
    driver.onDiskVersion !== null && driver.libraryVersion !== null && driver.onDiskVersion !== driver.libraryVersion;
  const buildsStale = isStale && source?.version === driver.libraryVersion;
  if (isThere && !buildsStale) return nothing;
  if (source === undefined) return prebuiltModule(packages, manager, params, kernel);
  const build: Step = {
    do: 'build_module',
    name: source.name,
    version: source.version,
    kernel,
    timeoutMs: packageTimeoutMs,
  };
  const because = [reason('module_not_built', `${source.name} ${source.version} is not built for ${kernel}`)];
  if (running?.headers !== false) return { steps: [build], because, problems: [] };
  if (manager === 'dnf')
    return {
      ...nothing,
      problems: [reason('headers_missing', `kernel-devel-${kernel} is not installed: a person installs it`)],
    };
  const headers = fromRepository(packages, manager, params, `linux-headers-${kernel}`);
  return { steps: [...headers.steps, build], because: [...headers.because, ...because], problems: [] };
}

/** Ubuntu's modules that are built already come as a package for each kernel. */
function prebuiltModule(packages: Packages, manager: PackageManager, params: Params, kernel: string): Repairs {
  const named = packages.packages.flatMap(
    ({ name }) => /^(linux-modules-nvidia-\d+(?:-server)?(?:-open)?)-\d/.exec(name)?.[1] ?? [],
  )[0];
  if (named === undefined || manager !== 'apt') return nothing;
  return fromRepository(packages, manager, params, `${named}-${kernel}`);
}

function fromRepository(packages: Packages, manager: PackageManager, params: Params, name: string): Repairs {
  const change = {
    names: [name],
    version: 'candidate',
    hold: false,
    folder: null,
    withoutWayBack: params.withoutWayBack,
  };
  return { steps: changePackages(packages, manager, change), because: whyChange(packages, change), problems: [] };
}

export const nothing: Repairs = { steps: [], because: [], problems: [] };
