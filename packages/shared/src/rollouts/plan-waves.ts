import type { Sha256 } from '../core/capabilities.ts';
import { toCanonicalJson } from '../core/json.ts';
import type { JobRequest } from '../jobs/job-request.ts';
import { groupBy } from './group-by.ts';
import type { RolloutSpec, Strategy } from './spec.ts';
import { shareOf } from './thresholds.ts';

/** A host that takes part, before it has a wave. */
export interface PlannedSlot {
  hostId: string;
  hostName: string;
  siteId: string;
  className: string;
  online: boolean;
  requests: JobRequest[];
  /** Hash of the first job's plan from the last known facts; null where no plan could be made ahead. */
  planHash: string | null;
}

export interface PlannedWave<S extends PlannedSlot> {
  index: number;
  name: string;
  isCanary: boolean;
  slots: S[];
}

/** Wave 0 is the canary; then the rules in order, each making one wave, `site` one for each site; the last rule repeats. */
export function planWaves<S extends PlannedSlot>(
  slots: readonly S[],
  strategy: Pick<Strategy, 'canary' | 'waves'>,
): PlannedWave<S>[] {
  const ordered = [...slots].sort(
    (a, b) => compare(a.siteId, b.siteId) || compare(a.hostName, b.hostName) || compare(a.hostId, b.hostId),
  );
  const canary = pickCanary(ordered, strategy.canary.perClass);
  const rest = ordered.filter((slot) => !canary.includes(slot));
  const groups = divide(rest, strategy.waves);
  const named = canary.length > 0 ? [{ name: 'canary', isCanary: true, slots: canary }, ...groups] : groups;
  return named.map((wave, index) => ({ index, ...wave }));
}

/** What is approved: strategy, hosts in their waves, jobs and the plans they rest on. */
export function rolloutPlanHash(spec: RolloutSpec, waves: readonly PlannedWave<PlannedSlot>[], sha256: Sha256): string {
  return sha256(
    toCanonicalJson({
      strategy: spec.strategy,
      expiresAt: spec.expiresAt,
      waves: waves.map((wave) => ({
        name: wave.name,
        slots: wave.slots.map(({ hostId, requests, planHash }) => ({ hostId, requests, planHash })),
      })),
    }),
  );
}

/** One host of each class in turn, the largest class first, at most a quarter of all; a host online is preferred. */
function pickCanary<S extends PlannedSlot>(slots: readonly S[], perClass: number): S[] {
  if (perClass === 0) return [];
  const classes = groupBy(slots, (slot) => slot.className);
  const queues = [...classes.entries()]
    .sort(([a, as], [b, bs]) => bs.length - as.length || compare(a, b))
    .map(([, members]) => [...members.filter((slot) => slot.online), ...members.filter((slot) => !slot.online)]);
  const picked: S[] = [];
  const limit = Math.max(1, Math.floor(slots.length / 4));
  for (let round = 0; round < perClass; round += 1)
    for (const queue of queues) {
      const slot = queue[round];
      if (slot && picked.length < limit) picked.push(slot);
    }
  return picked;
}

type Group<S> = { name: string; isCanary: false; slots: S[] };

function divide<S extends PlannedSlot>(slots: readonly S[], rules: Strategy['waves']): Group<S>[] {
  const groups: Group<S>[] = [];
  let rest = [...slots];
  for (let turn = 0; rest.length > 0; turn += 1) {
    const rule = rules[Math.min(turn, rules.length - 1)];
    if (!rule) throw new Error('a strategy has at least one wave rule');
    if (rule.by === 'site') {
      for (const [siteId, members] of groupBy(rest, (slot) => slot.siteId))
        groups.push({ name: siteId, isCanary: false, slots: members });
      return groups;
    }
    const size = rule.by === 'count' ? rule.size : Math.max(1, shareOf(slots.length, rule.size));
    groups.push({ name: `${groups.length + 1}`, isCanary: false, slots: rest.slice(0, size) });
    rest = rest.slice(size);
  }
  return groups;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
