import type { JobPreview, RolloutPlan } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { JobRequest } from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import {
  clusterBudget,
  hitsControlPlane,
  type PlannedSlot,
  type RolloutSpec,
  toClassName,
} from '@gpufleet/shared/rollouts';
import type { HostRow } from '../hosts/index.ts';
import { type createPreviewer, type FleetView, normalizeRequest } from '../jobs/index.ts';

/** A slot with what each of its jobs is expected to do. */
export interface PreviewedSlot extends PlannedSlot {
  previews: JobPreview[];
}

export type LeftOut = RolloutPlan['leftOut'][number];

interface Judging {
  spec: RolloutSpec;
  host: HostRow;
  requests: JobRequest[];
  facts: Facts;
  fleet: FleetView;
  preview: ReturnType<typeof createPreviewer>;
}

/** A slot, or why the host cannot have one. */
export function judgeHost({ spec, host, requests: given, facts, fleet, preview }: Judging): PreviewedSlot | LeftOut {
  const leave = (because: string, detail: string) => ({ hostId: host.id, hostName: host.name, because, detail });
  const requests: JobRequest[] = [];
  for (const request of given) {
    const normal = tryNormalize(request);
    if ('code' in normal) return leave('kind_unavailable', normal.message);
    if (host.capabilities.length > 0 && !host.capabilities.includes(request.kind))
      return leave('kind_unavailable', `its agent (${host.agentVersion}) cannot carry out ${request.kind}`);
    requests.push(normal);
  }
  const previews = requests.map((request) => preview(request, facts));
  const [first] = previews;
  if (!first) return leave('no_remedy', 'there is no job for it');
  if (first.outcome === 'blocked')
    return leave('blocked', first.because.map(({ because, detail }) => `${because}: ${detail}`).join('; '));
  if (previews.every((each) => each.outcome === 'noop'))
    return leave('noop', first.because.map((each) => each.detail).join('; '));
  const cluster = host.class.kubernetesRole === 'server' ? fleet.clusters.get(host.class.clusterId ?? '') : undefined;
  const isQuorumAtRisk = cluster !== undefined && clusterBudget(cluster.servers.length) === 0;
  if (isQuorumAtRisk && requests.some(hitsControlPlane) && !spec.strategy.allowControlPlaneDowntime)
    return leave(
      'needs_acknowledgement',
      `its cluster has ${cluster.servers.length} server(s), so its API is away meanwhile: set strategy.allowControlPlaneDowntime`,
    );
  return {
    hostId: host.id,
    hostName: host.name,
    siteId: host.siteId,
    className: toClassName(host.class),
    online: fleet.hosts.get(host.id)?.online ?? false,
    requests,
    planHash: first.planHash,
    previews,
  };
}

function tryNormalize(request: JobRequest): JobRequest | FleetError {
  try {
    return normalizeRequest(request, 'params');
  } catch (error) {
    if (error instanceof FleetError) return error;
    throw error;
  }
}
