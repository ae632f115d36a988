import { packageGroup } from '../../probes/packages/package-group.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { changePackages, whyChange } from '../packages/change-packages.ts';
import {
  installedOf,
  isAt,
  managerOf,
  type Packages,
  packageTimeoutMs,
  refreshTimeoutMs,
  versionsNow,
  whyNoChange,
} from '../packages/package-questions.ts';
import {
  isToolkitRepositoryBroken,
  planNvidiaRepositories,
  planToolkitRepository,
  type RepositoryPlan,
} from '../packages/repositories.ts';
import { noop, reason } from '../plan-parts.ts';
import { candidate, type Holder, type PackageManager, type Plan, type PlanReason } from '../step.ts';
import { nothing, type Repairs, repairDriverVersions, repairFabricManager, repairModule } from './driver-repairs.ts';
import type { RepairPackagesParams } from './params.ts';

type Facts = Observed<'packages' | 'jetson'>;

const dockerPackages = /^(docker\.io|docker-ce|docker-engine|moby-engine)$/;
const containerdPackages = /^containerd(\.io)?$/;

/** Engines whose packages are to change: their own scripts restart them. */
export function repairUses({ packages = [] }: RepairPackagesParams): ('driver' | 'fabric' | 'docker' | 'containerd')[] {
  const has = (pattern: RegExp) => packages.some((name) => pattern.test(name));
  return [
    'driver',
    'fabric',
    ...(has(dockerPackages) ? ['docker' as const] : []),
    ...(has(containerdPackages) ? ['containerd' as const] : []),
  ];
}

export function planRepair(facts: Facts, params: RepairPackagesParams, also: Also): Plan {
  const { packages, jetson } = facts;
  const manager = managerOf(packages);
  const problem = whyNoChange(packages, { repairs: true });
  if (manager === null) return blockedBecause(problem ? [problem] : []);
  const refused = jetson.isTegra ? whyNotOnTegra(params) : null;
  if (refused) return blockedBecause([refused]);
  const { steps, because, problems } = repairsOf(facts, manager, params, also);
  if (steps.length === 0 && problems.length > 0) return blockedBecause(problems);
  if (steps.length === 0) return noop('nothing_broken', 'packages, repositories and the driver are as they should be');
  if (problem) return blockedBecause([problem]);
  return { outcome: 'plan', because: [...because, ...problems], steps, holders: holdersOf(also) };
}

/** `nvidia-container-csv-cuda` brings `cuda.csv`. */
function lacksList({ csvFiles }: Facts['jetson'], name: string): boolean {
  return !csvFiles?.includes(`${name.replace('nvidia-container-csv-', '')}.csv`);
}

/** The same question once more: nothing that the job repairs is left. */
export function verifyRepair(facts: Facts, params: RepairPackagesParams, before: Also, also: Also): Verdict {
  const manager = managerOf(facts.packages);
  const { packages = [], reinstall = [], version = candidate } = params;
  const isThere = (name: string) =>
    isAt(installedOf(facts.packages, [name])[0], packages.includes(name) ? version : candidate);
  const missing = [
    ...packages.filter((name) => !isThere(name)),
    ...reinstall.filter((name) => !isThere(name) || lacksList(facts.jetson, name)),
  ];
  const no = (because: PlanReason[]): Verdict => ({ ok: false, because, answered: true });
  if (missing.length > 0) return no(missing.map((name) => reason('packages_missing', `${name} is not there as asked`)));
  if (manager !== null && isGeneral(params)) {
    const { steps, because, problems } = generalRepairs(facts, manager, params, also);
    if (steps.length > 0 || problems.length > 0) return no([...because, ...problems]);
  }
  const silent = (['docker', 'containerd'] as const).find((key) => before[key]?.live && !also[key]?.live);
  if (silent !== undefined) {
    const detail = `${silent} answered before, and does not with the packages of now`;
    return { ok: false, because: [reason('daemon_not_answering', detail)], answered: false };
  }
  return { ok: true, because: [reason('live_as_asked', 'the package manager calls everything properly installed')] };
}

/** Containers of docker end with their daemon; those of containerd live in shims. */
function holdersOf({ docker }: Also): Holder[] {
  const count = docker?.live?.containersRunning ?? 0;
  if (count === 0 || docker?.config?.liveRestore) return [];
  return [{ type: 'container', name: `${count} running containers`, pid: null, gpuUuid: null }];
}

const isGeneral = ({ packages, reinstall }: RepairPackagesParams) => packages === undefined && reinstall === undefined;

/** The driver of these boards is part of their L4T release. */
function whyNotOnTegra({ packages = [], driverVersion }: RepairPackagesParams): PlanReason | null {
  const driver = packages.find((name) => packageGroup(name) === 'driver' || name.startsWith('nvidia-l4t-'));
  if (driver === undefined && driverVersion === undefined) return null;
  return reason('tegra_driver', 'the driver of this board is part of its L4T release and is never changed alone');
}

function repairsOf(facts: Facts, manager: PackageManager, params: RepairPackagesParams, also: Also): Repairs {
  if (isGeneral(params)) return generalRepairs(facts, manager, params, also);
  return together([
    unfinished(facts.packages, manager),
    namedPackages(facts.packages, manager, params),
    reinstalled(facts, manager, params),
  ]);
}

/** In the order in which one needs the other. */
function generalRepairs(facts: Facts, manager: PackageManager, params: RepairPackagesParams, also: Also): Repairs {
  const { packages, jetson } = facts;
  const first = [repositories(packages, manager), unfinished(packages, manager)];
  if (jetson.isTegra || packages.driverInstalledByRunfile) return together(first);
  const driver = repairDriverVersions(packages, manager, params, also);
  return together([
    ...first,
    driver,
    driver.steps.length > 0 ? nothing : repairFabricManager(packages, manager, params, also),
    driver.steps.length > 0 ? nothing : repairModule(packages, manager, params, also),
  ]);
}

function repositories(packages: Packages, manager: PackageManager): Repairs {
  if (manager !== 'apt') return nothing;
  const toolkit: RepositoryPlan | null = isToolkitRepositoryBroken(packages)
    ? planToolkitRepository(packages, { manager, channel: 'stable' })
    : null;
  return together([toolkit, planNvidiaRepositories(packages)].map((planned) => asRepairs(planned, manager)));
}

function asRepairs(planned: RepositoryPlan | null, manager: PackageManager): Repairs {
  if (planned === null) return nothing;
  if (!planned.ok) return { ...nothing, problems: [planned.because] };
  if (planned.steps.length === 0) return nothing;
  const refresh = { do: 'refresh_package_lists', manager, only: planned.file, timeoutMs: refreshTimeoutMs } as const;
  return { steps: [...planned.steps, refresh], because: planned.because, problems: [] };
}

function unfinished({ broken, interrupted }: Packages, manager: PackageManager): Repairs {
  if (manager !== 'apt' || (broken.length === 0 && !interrupted)) return nothing;
  const because = broken.slice(0, 20).map(({ name, state }) => reason('packages_broken', `${name} is ${state}`));
  if (interrupted) because.unshift(reason('packages_interrupted', 'dpkg was ended in the middle of its work'));
  return { steps: [{ do: 'configure_packages', manager, timeoutMs: packageTimeoutMs }], because, problems: [] };
}

function namedPackages(packages: Packages, manager: PackageManager, params: RepairPackagesParams): Repairs {
  if (params.packages === undefined) return nothing;
  const change = {
    names: [...new Set(params.packages)],
    version: params.version ?? candidate,
    hold: false,
    folder: null,
    withoutWayBack: params.withoutWayBack,
  };
  const steps = changePackages(packages, manager, change);
  if (steps.length === 0) return nothing;
  const refresh = { do: 'refresh_package_lists', manager, only: null, timeoutMs: refreshTimeoutMs } as const;
  return { steps: [refresh, ...steps], because: whyChange(packages, change), problems: [] };
}

/** What is not installed is installed; of what is, the files are put in place again. */
function reinstalled({ packages, jetson }: Facts, manager: PackageManager, params: RepairPackagesParams): Repairs {
  const names = [...new Set(params.reinstall ?? [])].filter((name) => lacksList(jetson, name));
  if (names.length === 0) return nothing;
  const now = versionsNow(packages, names);
  const missing = now.filter(({ version }) => version === null).map(({ name }) => name);
  const present = now.filter(({ version }) => version !== null);
  const added =
    missing.length > 0
      ? namedPackages(packages, manager, { ...params, packages: missing, version: undefined })
      : nothing;
  if (present.length === 0) return added;
  return together([
    added,
    {
      steps: [{ do: 'reinstall_packages', manager, packages: present, timeoutMs: packageTimeoutMs }],
      because: present.map(({ name }) => reason('asked_to_reinstall', `${name} is put in place anew`)),
      problems: [],
    },
  ]);
}

function together(parts: readonly Repairs[]): Repairs {
  return {
    steps: parts.flatMap(({ steps }) => steps),
    because: parts.flatMap(({ because }) => because),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function blockedBecause(because: PlanReason[]): Plan {
  return { outcome: 'blocked', because };
}
