import { reason } from '../plan-parts.ts';
import { candidate, type PackageAt, type PackageManager, type PlanReason, type Step } from '../step.ts';
import { installedOf, isAt, type Packages, packageTimeoutMs, versionsNow } from './package-questions.ts';

export interface Change {
  names: readonly string[];
  /** Of all of them; `candidate`: whatever the repository offers. null: they stay as they are. */
  version: string | null;
  hold: boolean;
  folder: string | null;
  /** Go on although the versions of now may be nowhere to be had again. */
  withoutWayBack: boolean;
}

/**
 * Steps that bring packages of one family to one version and hold them there: holds are lifted before, and what is
 * installed now is kept on the disk first, so that it can be put back whatever the repository has by then.
 */
export function changePackages(packages: Packages, manager: PackageManager, change: Change): Step[] {
  const { names, version, hold, folder, withoutWayBack } = change;
  const now = versionsNow(packages, names);
  const installed = installedOf(packages, names);
  const differing = version === null ? [] : now.filter((one) => !isAt(asInstalled(one), version));
  const held = installed.filter((one) => one.held).map(({ name }) => name);
  const steps: Step[] = [];
  const lifted = differing.length === 0 ? [] : held;
  if (lifted.length > 0) steps.push({ do: 'hold_packages', manager, names: lifted, held: false });
  if (differing.length > 0 && version !== null) {
    const present = now.filter((one) => one.version !== null);
    if (present.length > 0 && !withoutWayBack)
      steps.push({ do: 'keep_packages', manager, packages: present, timeoutMs: packageTimeoutMs });
    steps.push({
      do: 'set_packages',
      manager,
      from: now,
      to: names.map((name) => ({ name, version })),
      folder,
      purge: false,
      finishFirst: false,
      timeoutMs: packageTimeoutMs,
    });
  }
  // Setting a version lifts a hold: what was held is held again in any case.
  const toHold = names.filter((name) => (hold ? !held.includes(name) || lifted.includes(name) : lifted.includes(name)));
  if (toHold.length > 0) steps.push({ do: 'hold_packages', manager, names: toHold, held: true });
  return steps;
}

/** Why each of them is to change. */
export function whyChange(packages: Packages, { names, version }: Pick<Change, 'names' | 'version'>): PlanReason[] {
  if (version === null) return [];
  const wanted = version === candidate ? 'the version that the repository offers' : version;
  return versionsNow(packages, names)
    .filter((one) => !isAt(asInstalled(one), version))
    .map(({ name, version: now }) =>
      reason('version_differs', `${name} is ${now ?? 'not installed'}, wanted is ${wanted}`),
    );
}

function asInstalled({ version }: PackageAt): { version: string } | undefined {
  return version === null ? undefined : { version };
}
