import type { RolloutPlan } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import type { JobRequest } from '@gpufleet/shared/jobs';
import {
  type ChoosableHost,
  chooseHost,
  isTimeZone,
  type PlannedWave,
  planWaves,
  type RolloutSpec,
  type Selector,
} from '@gpufleet/shared/rollouts';
import { and, inArray, isNull } from 'drizzle-orm';
import type { Db } from '../../db/index.ts';
import { requireSelector } from '../../http/require-selector.ts';
import { findingTable } from '../findings/index.ts';
import { type HostRow, labelsOf, latestFacts, listAllHostRows } from '../hosts/index.ts';
import { createPreviewer, type FleetDeps, loadFleet, normalizeRequest } from '../jobs/index.ts';
import { findSiteRow } from '../sites/index.ts';
import { judgeHost, type LeftOut, type PreviewedSlot } from './judge-host.ts';
import { toRolloutPlan } from './to-rollout-plan.ts';

export interface MadePlan {
  spec: RolloutSpec;
  waves: PlannedWave<PreviewedSlot>[];
  plan: RolloutPlan;
}

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
    const judged = judgeHost({ spec, host, requests, facts: await latestFacts(db, host.id), fleet, preview });
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
