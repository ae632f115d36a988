import type { JobPreview, RolloutPlan } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { JobRequest } from '@gpufleet/shared/jobs';
import {
  type ChoosableHost,
  chooseHost,
  clusterBudget,
  hitsControlPlane,
  isTimeZone,
  type PlannedSlot,
  type PlannedWave,
  planWaves,
  type RolloutSpec,
  rolloutPlanHash,
  type Selector,
  siteBudget,
  toClassName,
} from '@gpufleet/shared/rollouts';
import { and, inArray, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { requireSelector } from '../../http/require-selector.ts';
import { findingTable } from '../findings/index.ts';
import { type HostRow, labelsOf, latestFacts, listAllHostRows } from '../hosts/index.ts';
import { createPreviewer, type FleetDeps, type FleetView, loadFleet, normalizeRequest, sha256 } from '../jobs/index.ts';
import { findSiteRow } from '../sites/index.ts';

/** A slot with what each of its jobs is expected to do. */
export interface PreviewedSlot extends PlannedSlot {
  previews: JobPreview[];
}

export interface MadePlan {
  spec: RolloutSpec;
  waves: PlannedWave<PreviewedSlot>[];
  plan: RolloutPlan;
}

type LeftOut = RolloutPlan['leftOut'][number];

/** Which hosts, in which waves, with which jobs, and what each is expected to do. Changes nothing. */
export async function makePlan(db: Db, deps: FleetDeps, given: RolloutSpec): Promise<MadePlan> {
  const { spec, selector } = await checkSpec(db, given);
  const chosen: { host: HostRow; requests: JobRequest[] }[] = [];
  const leftOut: LeftOut[] = [];
  for await (const batch of batches(listAllHostRows(db), 200)) {
    const choosable = await toChoosable(db, spec, batch);
    for (const host of batch) {
      const choice = chooseHost(spec, selector, choosable(host));
      if (choice.at === 'chosen') chosen.push({ host, requests: choice.requests });
      if (choice.at === 'left_out')
        leftOut.push({ hostId: host.id, hostName: host.name, because: choice.because, detail: choice.detail });
    }
  }
  const fleet = await loadFleet(
    db,
    deps,
    chosen.map(({ host }) => host.id),
  );
  const slots: PreviewedSlot[] = [];
  const preview = createPreviewer();
  for (const { host, requests } of chosen) {
    const judged = await judgeHost(db, { spec, host, requests, fleet, preview });
    if ('because' in judged) leftOut.push(judged);
    else slots.push(judged);
  }
  const waves = planWaves(slots, spec.strategy);
  return { spec, waves, plan: toRolloutPlan(spec, waves, leftOut, fleet) };
}

async function checkSpec(db: Db, spec: RolloutSpec): Promise<{ spec: RolloutSpec; selector: Selector }> {
  const selector = requireSelector(spec.target.selector ?? '', 'target.selector');
  const zone = spec.strategy.window?.zone ?? 'site';
  if (zone !== 'site' && !isTimeZone(zone))
    throw new FleetError('bad_timezone', `${zone} is no IANA time zone`, {
      errors: [{ path: 'strategy.window.zone', message: 'no IANA time zone, nor site' }],
    });
  for (const siteId of spec.target.sites ?? [])
    if (!(await findSiteRow(db, siteId)))
      throw new FleetError('site_not_found', `there is no site ${siteId}`, { siteId });
  const jobs = spec.jobs?.map((request, at) => normalizeRequest(request, `jobs.${at}.params`));
  return { spec: jobs ? { ...spec, jobs } : spec, selector };
}

async function toChoosable(
  db: Db,
  spec: RolloutSpec,
  hosts: readonly HostRow[],
): Promise<(host: HostRow) => ChoosableHost> {
  const ids = hosts.map((host) => host.id);
  const labels = await labelsOf(db, ids);
  const codes = [...(spec.target.findings ?? []), ...(spec.remedyOf === undefined ? [] : [spec.remedyOf])];
  const findings =
    codes.length === 0
      ? []
      : await db
          .select({ hostId: findingTable.hostId, body: findingTable.body })
          .from(findingTable)
          .where(
            and(inArray(findingTable.hostId, ids), inArray(findingTable.code, codes), isNull(findingTable.clearedAtMs)),
          )
          .orderBy(findingTable.code, findingTable.subject);
  return (host) => ({
    id: host.id,
    name: host.name,
    siteId: host.siteId,
    status: host.status,
    labels: labels.get(host.id) ?? {},
    findings: findings.filter((finding) => finding.hostId === host.id).map((finding) => finding.body),
  });
}

interface Judging {
  spec: RolloutSpec;
  host: HostRow;
  requests: JobRequest[];
  fleet: FleetView;
  preview: ReturnType<typeof createPreviewer>;
}

/** A slot, or why the host cannot have one. */
async function judgeHost(
  db: Db,
  { spec, host, requests: given, fleet, preview }: Judging,
): Promise<PreviewedSlot | LeftOut> {
  const leave = (because: string, detail: string) => ({ hostId: host.id, hostName: host.name, because, detail });
  const requests: JobRequest[] = [];
  for (const request of given) {
    const normal = tryNormalize(request);
    if ('code' in normal) return leave('kind_unavailable', normal.message);
    if (host.capabilities.length > 0 && !host.capabilities.includes(request.kind))
      return leave('kind_unavailable', `its agent (${host.agentVersion}) cannot carry out ${request.kind}`);
    requests.push(normal);
  }
  const facts = await latestFacts(db, host.id);
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

function toRolloutPlan(
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

async function* batches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
