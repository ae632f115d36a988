import { knownBadToolkits } from '../../diagnosis/rules/known-bad-toolkits.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { changePackages, whyChange } from '../packages/change-packages.ts';
import {
  compareVersions,
  installedOf,
  isAt,
  managerOf,
  type Packages,
  refreshTimeoutMs,
  upstream,
  whyNoChange,
} from '../packages/package-questions.ts';
import { planToolkitRepository, whyUnreachable } from '../packages/repositories.ts';
import { toolkitPackages } from '../packages/toolkit-packages.ts';
import { noop, reason } from '../plan-parts.ts';
import { candidate, type PackageManager, type Plan, type PlanReason, type Step } from '../step.ts';
import type { InstallToolkitParams } from './params.ts';

type Facts = Observed<'packages' | 'toolkit' | 'jetson'>;
export const installUses = ['reachability', 'units'] as const;

export function planInstall({ packages, jetson }: Facts, params: InstallToolkitParams, also: Also): Plan {
  const manager = managerOf(packages);
  const version = wantedVersion(packages, params, also);
  if (manager === null) return blockedBecause(whyNoChange(packages));
  const change = {
    names: toolkitPackages,
    version,
    hold: params.hold ?? manager === 'apt',
    folder: params.folder ?? null,
    withoutWayBack: params.withoutWayBack,
  };
  const steps = changePackages(packages, manager, change);
  if (steps.length === 0) return noop('already_installed', `all four packages are at ${versionsOf(packages)[0]}`);
  const because = whyChange(packages, change);
  const setsVersion = steps.some((step) => step.do === 'set_packages');
  if (because.length === 0) because.push(reason('not_held', 'an upgrade could change one of the four packages'));
  const problem = whyNoChange(packages);
  if (problem) return blockedBecause(problem);
  if (setsVersion && jetson.isTegra && params.version === undefined)
    return blockedBecause(
      reason('l4t_ships_toolkit', 'the toolkit of this board comes with its L4T release: a version has to be stated'),
    );
  if (!setsVersion || params.folder !== undefined) return planOf(steps, because);
  return withRepository(packages, manager, params, also, { steps, because });
}

/** The repository first, then its lists, then the packages from it. */
function withRepository(
  packages: Packages,
  manager: PackageManager,
  { channel, repository }: InstallToolkitParams,
  also: Also,
  then: { steps: Step[]; because: PlanReason[] },
): Plan {
  const unreachable = whyUnreachable(also.reachability ?? null, repository?.url);
  if (unreachable) return blockedBecause(unreachable);
  const planned = planToolkitRepository(packages, {
    manager,
    channel,
    url: repository?.url,
    keySource: repository?.keyFile ?? repository?.keyUrl,
    fingerprints: repository?.keyFingerprint === undefined ? undefined : [repository.keyFingerprint.toUpperCase()],
  });
  if (!planned.ok) return blockedBecause(planned.because);
  const refresh: Step = { do: 'refresh_package_lists', manager, only: planned.file, timeoutMs: refreshTimeoutMs };
  return planOf([...planned.steps, refresh, ...then.steps], [...planned.because, ...then.because]);
}

/** null: what is installed is good and stays. */
function wantedVersion(packages: Packages, params: InstallToolkitParams, also: Also): string | null {
  if (params.version !== undefined) return params.version;
  const installed = installedOf(packages, toolkitPackages);
  const [newest = null, ...others] = versionsOf(packages);
  if (newest === null) return candidate;
  if (whyBad(newest, packages, also) !== null) return candidate;
  return installed.length === toolkitPackages.length && others.length === 0 ? null : newest;
}

/** Upstream versions of what is installed, newest first. */
function versionsOf(packages: Packages): string[] {
  const versions = new Set(installedOf(packages, toolkitPackages).map(({ version }) => upstream(version)));
  return [...versions].sort((a, b) => compareVersions(b, a));
}

function whyBad(version: string, packages: Packages, { units }: Also): string | null {
  if (!units) return null;
  const bad = knownBadToolkits.find(
    ({ from, to, appliesTo }) =>
      compareVersions(version, from) >= 0 && compareVersions(version, to) <= 0 && appliesTo({ units, packages }),
  );
  return bad?.why ?? null;
}

const programs = ['nvidia-container-runtime', 'nvidia-ctk'] as const;

/** The packages are there, and the programs that they bring answer with this version. */
export function verifyInstall(
  { packages, toolkit }: Facts,
  params: InstallToolkitParams,
  _before: unknown,
  also: Also,
): Verdict {
  const no = (because: string, detail: string): Verdict => ({
    ok: false,
    because: [reason(because, detail)],
    answered: true,
  });
  const installed = installedOf(packages, toolkitPackages);
  const missing = toolkitPackages.filter((name) => !installed.some((one) => one.name === name));
  if (missing.length > 0) return no('packages_missing', `not properly installed: ${missing.join(', ')}`);
  const [version = '', ...others] = versionsOf(packages);
  if (others.length > 0) return no('versions_differ', `the four packages have ${[version, ...others].join(', ')}`);
  const wrong = installed.find((one) => params.version !== undefined && !isAt(one, params.version));
  if (wrong) return no('version_differs', `${wrong.name} is ${wrong.version}, wanted is ${params.version}`);
  const absent = programs.filter((name) => !toolkit.binaries.some((binary) => binary.name === name));
  if (absent.length > 0) return no('programs_missing', `not found: ${absent.join(', ')}`);
  const silent = toolkit.binaries.find(({ version: said }) => said === null);
  if (toolkit.version === null)
    return no('program_silent', `${silent?.path ?? 'nvidia-ctk'} does not tell its version`);
  if (upstream(toolkit.version) !== version)
    return no('version_differs', `nvidia-ctk says ${toolkit.version}, its package is ${version}`);
  const bad = params.version === undefined ? whyBad(version, packages, also) : null;
  if (bad !== null) return no('version_known_bad', `the repository offers ${version}: ${bad}`);
  return { ok: true, because: [reason('live_as_asked', `nvidia-ctk answers with ${toolkit.version}`)] };
}

function planOf(steps: Step[], because: PlanReason[]): Plan {
  return { outcome: 'plan', because, steps, holders: [] };
}

function blockedBecause(because: PlanReason | null): Plan {
  return { outcome: 'blocked', because: because === null ? [] : [because] };
}
