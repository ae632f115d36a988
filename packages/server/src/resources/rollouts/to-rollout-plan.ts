import type { JobPreview, RolloutPlan } from '@gpufleet/shared/api';
import { type PlannedWave, type RolloutSpec, rolloutPlanHash, siteBudget } from '@gpufleet/shared/rollouts';
import { type FleetView, sha256 } from '../jobs/index.ts';
import type { LeftOut, PreviewedSlot } from './judge-host.ts';

/** The plan as people see and approve it. */
export function toRolloutPlan(
  spec: RolloutSpec,
  waves: readonly PlannedWave<PreviewedSlot>[],
  leftOut: LeftOut[],
  fleet: FleetView,
): RolloutPlan {
  return {
    planHash: rolloutPlanHash(spec, waves, sha256),
    waves: waves.map(({ index, name, slots }) => ({
      index,
      name,
      slots: slots.map(({ hostId, hostName, siteId, className, requests, previews }) => ({
        hostId,
        hostName,
        siteId,
        className,
        requests,
        preview: mergePreviews(previews),
      })),
    })),
    leftOut,
    budgets: [...fleet.sites.values()].map((site) => ({
      siteId: site.id,
      hosts: site.size,
      budget: siteBudget(site.size, spec.strategy.budget),
      unavailable: site.unavailable.length,
    })),
  };
}

const worstFirst = ['reboots', 'resets_gpu', 'restarts_containers', 'restarts_runtime'] as const;

/** One preview for a slot of several jobs: the first one's outcome and hash, the steps of all. */
function mergePreviews(previews: readonly JobPreview[]): JobPreview {
  const [first] = previews;
  if (!first) throw new Error('a slot has at least one job');
  return {
    ...first,
    steps: previews.flatMap((preview) => preview.steps),
    holders: [...new Set(previews.flatMap((preview) => preview.holders))],
    worstCaseMs: previews.reduce((sum, preview) => sum + preview.worstCaseMs, 0),
    disruption: worstFirst.find((worst) => previews.some((preview) => preview.disruption === worst)) ?? 'none',
  };
}
