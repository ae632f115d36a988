import { FleetError } from '@gpufleet/shared/core';
import type { Operated, Snapshot } from '@gpufleet/shared/rollouts';
import type { Db } from '../../db/index.ts';
import type { AppDeps } from '../../deps.ts';
import { type By, requireVersion } from '../../http/route.ts';
import { recordAudit } from '../audit/index.ts';
import { latestFacts } from '../hosts/index.ts';
import { type CancelNotice, previewRequest, requestCancel, setJobPlanHash, settledJobStates } from '../jobs/index.ts';
import { findDrift } from './find-drift.ts';
import { namesOfHosts } from './host-names.ts';
import { getRolloutRow } from './rollout-store.ts';
import { endUnstarted, type LoadedRollout, loadRollout, writeChanges } from './snapshot-store.ts';

export interface Operation {
  rolloutId: string;
  by: By;
  ifVersion: number | undefined;
  /** `rollout.pause` … */
  action: string;
  /** Said in the audit: a reason, dispositions. */
  says: unknown;
}

/** One change by a person: read, judged by the machines, stored and audited in one write. */
export async function operateRollout(
  tx: Db,
  deps: AppDeps,
  operation: Operation,
  decide: (snapshot: Snapshot, nowMs: number) => Operated,
): Promise<{ before: LoadedRollout; after: LoadedRollout }> {
  const loaded = await loadRollout(tx, operation.rolloutId);
  requireVersion(loaded.row.version, operation.ifVersion);
  const nowMs = deps.clock.nowMs();
  const operated = decide(loaded.snapshot, nowMs);
  if (!operated.ok) throw await toFleetError(tx, operated);
  await writeChanges(tx, loaded.snapshot, operated.changes, nowMs);
  await recordAudit(tx, {
    ...operation.by,
    atMs: nowMs,
    action: operation.action,
    target: `rollout:${operation.rolloutId}`,
    before: { state: loaded.snapshot.rollout.state },
    after: operation.says,
  });
  return { before: loaded, after: await loadRollout(tx, operation.rolloutId) };
}

async function toFleetError(tx: Db, refused: Extract<Operated, { ok: false }>): Promise<FleetError> {
  if (refused.because !== 'slots_need_disposition') return new FleetError(refused.because, refused.detail);
  const names = await namesOfHosts(
    tx,
    refused.slots.map((slot) => slot.hostId),
  );
  return new FleetError(refused.because, refused.detail, {
    errors: refused.slots.map((slot) => ({
      path: `dispositions.${slot.id}`,
      message: `${names.get(slot.hostId) ?? slot.hostId} is ${slot.state}: ${slot.detail ?? ''}`,
    })),
  });
}

/** Approving and starting both stand on the plan that was shown. A plan whose hosts have moved ends as stale. */
export async function checkPlan(deps: AppDeps, rolloutId: string, planHash: string | undefined): Promise<void> {
  const row = await getRolloutRow(deps.db.read, rolloutId);
  if (planHash !== undefined && planHash !== row.planHash)
    throw new FleetError('plan_stale', 'the plan hash is not that of this rollout: look at its plan again');
  if (row.state !== 'planned' && row.state !== 'approved') return;
  const drift = await findDrift(deps.db.read, deps, row);
  if (drift === undefined) return;
  const detail = `${drift}: make the rollout again`;
  await deps.db.write(async (tx) =>
    endUnstarted(tx, await loadRollout(tx, rolloutId), {
      state: 'stale',
      because: 'plan_stale',
      detail,
      atMs: deps.clock.nowMs(),
    }),
  );
  throw new FleetError('plan_stale', `what the plan rests on has moved: ${detail}`);
}

/** Jobs that are tried again are approved as they would be planned now. */
export async function refreshRetriedPlans(tx: Db, before: LoadedRollout, after: LoadedRollout): Promise<void> {
  for (const job of after.jobRows) {
    const was = before.jobRows.find((each) => each.id === job.id)?.state;
    const isRetried = job.state === 'queued' && settledJobStates.some((state) => state === was);
    if (isRetried)
      await setJobPlanHash(tx, job.id, previewRequest(job.request, await latestFacts(tx, job.hostId)).planHash);
  }
}

/** Asks everything that runs for this rollout to stop at its next safe point. */
export async function cancelRunning(tx: Db, loaded: LoadedRollout, because: string): Promise<CancelNotice[]> {
  const running = loaded.jobRows.filter((job) => job.state === 'running' || job.state === 'unknown');
  const notices: CancelNotice[] = [];
  for (const job of running) notices.push(...(await requestCancel(tx, job.id, because)));
  return notices;
}
