import type { FactValue } from '../../probes/facts.ts';
import type { MigInstances } from '../mig-steps.ts';

export type MigOffer = NonNullable<FactValue<'mig_profiles'>['gpus'][number]['profiles']>[number];
type Instance = MigInstances[number];

export type Placed = { ok: true; instances: MigInstances } | { ok: false; because: string; detail: string };

/**
 * Where the instances of a layout go: those that are there and right stay, as many as can, and the rest are placed
 * around them. The places and sizes are the driver's own.
 */
export function placeInstances(
  wanted: Readonly<Record<string, number>>,
  offers: readonly MigOffer[],
  present: MigInstances,
): Placed {
  const counts = new Map(Object.entries(wanted).filter(([, count]) => count > 0));
  for (const [profile, count] of counts) {
    const offer = offers.find(({ name }) => name === profile);
    if (!offer) {
      const names = offers.map(({ name }) => name).join(', ');
      return no('profile_not_offered', `there is no profile ${profile}; there are ${names || 'none'}`);
    }
    if (count > offer.totalInstances)
      return no('layout_does_not_fit', `${offer.totalInstances} times ${profile} at most`);
    if (offer.placements === null) return no('placements_unknown', `the driver does not say where ${profile} may be`);
  }
  const large = (profile: string) => slicesOf(profile) * 100 + (sizeOf(offers, profile) ?? 0);
  const profiles = [...counts].flatMap(([profile, count]) => Array.from({ length: count }, () => profile));
  const sorted = profiles.sort((a, b) => large(b) - large(a) || (a < b ? -1 : 1));
  const slices = sorted.reduce((sum, profile) => sum + slicesOf(profile), 0);
  const most = Math.max(...offers.map(({ name }) => slicesOf(name)));
  if (slices > most) return no('layout_does_not_fit', `it has ${slices} of ${most} compute slices`);
  for (const kept of subsetsToKeep(present, counts)) {
    const missing = without(sorted, kept);
    const placed = search(missing, offers, kept);
    if (placed) return { ok: true, instances: placed.sort((a, b) => a.start - b.start) };
  }
  return no('layout_does_not_fit', 'its instances do not fit into the memory side by side');
}

/** Every choice of instances that may stay, the largest first. */
function subsetsToKeep(present: MigInstances, counts: ReadonlyMap<string, number>): MigInstances[] {
  const usable = present.filter(({ profile, computes }) => computes === null && counts.has(profile)).slice(0, 8);
  const subsets = Array.from({ length: 2 ** usable.length }, (_, bits) => usable.filter((__, at) => bits & (1 << at)));
  const fits = (subset: MigInstances) =>
    [...counts].every(([name, count]) => subset.filter(({ profile }) => profile === name).length <= count);
  return subsets.filter(fits).sort((a, b) => b.length - a.length);
}

function without(profiles: readonly string[], kept: MigInstances): string[] {
  const left = [...profiles];
  for (const { profile } of kept) left.splice(left.indexOf(profile), 1);
  return left;
}

/** Large ones first, each at its last place that is free, so that small ones find room before them. */
function search(profiles: readonly string[], offers: readonly MigOffer[], placed: MigInstances): MigInstances | null {
  const [profile, ...rest] = profiles;
  if (profile === undefined) return [...placed];
  const offer = offers.find(({ name }) => name === profile);
  for (const start of [...(offer?.placements?.starts ?? [])].sort((a, b) => b - a)) {
    const instance: Instance = { profile, profileId: offer?.id ?? 0, start, computes: null };
    if (placed.some((other) => overlap(instance, other, offers))) continue;
    const found = search(rest, offers, [...placed, instance]);
    if (found) return found;
  }
  return null;
}

function overlap(a: Instance, b: Instance, offers: readonly MigOffer[]): boolean {
  const endOf = ({ profile, start }: Instance) => start + (sizeOf(offers, profile) ?? Number.POSITIVE_INFINITY);
  return a.start < endOf(b) && b.start < endOf(a);
}

function sizeOf(offers: readonly MigOffer[], profile: string): number | undefined {
  return offers.find(({ name }) => name === profile)?.placements?.size;
}

/** The driver names the compute slices first: 3 of `3g.20gb`. */
function slicesOf(profile: string): number {
  return Number.parseInt(profile, 10) || 0;
}

function no(because: string, detail: string): Placed {
  return { ok: false, because, detail };
}
