import type { FactValue } from '../../probes/facts.ts';
import type { HostPackage } from '../../probes/packages/fact.ts';
import { reason } from '../plan-parts.ts';
import { candidate, type PackageAt, type PackageManager, type PlanReason } from '../step.ts';

export type Packages = FactValue<'packages'>;

/** Long: a slow mirror and a slow disk, and a lock that is waited for. What ends a package manager half-way is worse. */
export const packageTimeoutMs = 15 * 60_000;
export const refreshTimeoutMs = 5 * 60_000;

export function managerOf({ manager }: Packages): PackageManager | null {
  if (manager === null) return null;
  return manager === 'dpkg' ? 'apt' : 'dnf';
}

/** Why no package can be changed on this host now; null: nothing stands against it. */
export function whyNoChange(packages: Packages, options: { repairs?: boolean } = {}): PlanReason | null {
  if (packages.manager === null)
    return reason('no_package_manager', 'this host has neither dpkg nor rpm that lists a package');
  if (packages.imageBased)
    return reason(
      'image_based_host',
      'this system is an image (ostree): packages are layered with a boot of their own',
    );
  if (packages.busy) return reason('packages_busy', 'a package manager works on this host right now: it is waited for');
  if (options.repairs) return null;
  if (packages.interrupted)
    return reason('packages_interrupted', 'dpkg was ended in the middle of its work: repair_packages comes first');
  const [broken] = packages.broken;
  if (broken) return reason('packages_broken', `${broken.name} is ${broken.state}: repair_packages comes first`);
  return null;
}

/** `5:1.17.8-1~x` without epoch and build: `1.17.8`. */
export function upstream(version: string): string {
  return version
    .replace(/^\d+:/, '')
    .replace(/-[^-]*$/, '')
    .replace(/[~+].*$/, '');
}

/** Whether what is installed is what is wanted: the very version, its upstream part, any (`candidate`), or nothing. */
export function isAt(installed: { version: string } | undefined, wanted: string | null): boolean {
  if (wanted === null || installed === undefined) return (wanted === null) === (installed === undefined);
  return wanted === candidate || installed.version === wanted || upstream(installed.version) === wanted;
}

export function installedOf(packages: Packages, names: readonly string[]): HostPackage[] {
  return packages.packages.filter(({ name, state }) => names.includes(name) && state === 'installed');
}

/** As a step names them: each with its version now, null for what is not there. One that is half-done counts as finished. */
export function versionsNow(packages: Packages, names: readonly string[]): PackageAt[] {
  return names.map((name) => ({ name, version: packages.packages.find((one) => one.name === name)?.version ?? null }));
}

/** Negative, zero or positive, by the numbers of two upstream versions. */
export function compareVersions(a: string, b: string): number {
  const numbers = (text: string) =>
    upstream(text)
      .split('.')
      .map((part) => Number.parseInt(part, 10) || 0);
  const [left, right] = [numbers(a), numbers(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** A name as dpkg and rpm take it: none can be an option or a pattern, nor end as apt marks what is to go or to come. */
export const packageName = /^[a-z0-9](?:[a-z0-9+._-]{0,126}[a-z0-9])?$/i;
export const packageVersion = /^[0-9][A-Za-z0-9.+~:_-]{0,127}$/;
