import type { Offer } from '@gpufleet/shared/protocol';
import { applyDecision, type Decision, planRollout, type Snapshot } from '@gpufleet/shared/rollouts';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { recordAudit } from '../resources/audit/index.ts';
import { type JobRow, recordOffer } from '../resources/jobs/index.ts';
import { type LoadedRollout, loadRollout, loadWorld, writeChanges } from '../resources/rollouts/index.ts';

export interface Offering {
  hostId: string;
  offer: Offer;
}

export interface Ticked {
  offerings: Offering[];
  /** A machine moved: there may be more to do at once. */
  moved: boolean;
  wakeAtMs: number | null;
}

/** Looks without the writer first: most of the time there is nothing to do. */
export async function tickRollout(deps: AppDeps, rolloutId: string): Promise<Ticked> {
  const loaded = await loadRollout(deps.db.read, rolloutId);
  const seen = planRollout(await loadWorld(deps.db.read, deps, loaded));
  if (seen.decisions.length === 0) return { offerings: [], moved: false, wakeAtMs: seen.wakeAtMs };
  return deps.db.write((tx) => applyTick(tx, deps, rolloutId));
}

/** What was seen may have changed: it is read and planned again, and that plan is stored. */
async function applyTick(tx: Db, deps: AppDeps, rolloutId: string): Promise<Ticked> {
  const loaded = await loadRollout(tx, rolloutId);
  const world = await loadWorld(tx, deps, loaded);
  const { decisions, wakeAtMs } = planRollout(world);
  let { snapshot } = loaded;
  const offerings: Offering[] = [];
  for (const decision of decisions) {
    if (decision.do === 'offer') offerings.push(await offerSlot(tx, loaded, decision.slotId, world.nowMs));
    else snapshot = await move(tx, snapshot, decision, world.nowMs);
  }
  return { offerings, moved: decisions.some((decision) => decision.do !== 'offer'), wakeAtMs };
}

async function move(tx: Db, snapshot: Snapshot, decision: Decision, nowMs: number): Promise<Snapshot> {
  const after = await writeChanges(tx, snapshot, applyDecision(snapshot, decision, nowMs), nowMs);
  const { do: action, ...says } = decision;
  await recordAudit(tx, {
    atMs: nowMs,
    actor: 'system:rollouts',
    requestId: null,
    action: `rollout.${action}`,
    target: `rollout:${snapshot.rollout.id}`,
    before: { state: snapshot.rollout.state },
    after: { state: after.rollout.state, ...says },
  });
  return after;
}

async function offerSlot(tx: Db, loaded: LoadedRollout, slotId: string, nowMs: number): Promise<Offering> {
  const job = loaded.jobRows.find((each) => each.slotId === slotId && each.state === 'queued');
  if (!job) throw new Error(`slot ${slotId} is to be offered and has no job`);
  return offerJob(tx, job, nowMs);
}

export async function offerJob(tx: Db, job: JobRow, nowMs: number): Promise<Offering> {
  const attemptId = await recordOffer(tx, job, nowMs);
  const offer: Offer = { type: 'offer', attemptId, jobId: job.id, request: job.request, planHash: job.planHash };
  return { hostId: job.hostId, offer };
}

/** After the commit. An offer that cannot be sent is made again when the host is back. */
export function sendOfferings(deps: Pick<AppDeps, 'gateway' | 'work'>, offerings: readonly Offering[]): void {
  for (const { hostId, offer } of offerings) {
    const session = deps.gateway.sessionEpoch(hostId);
    if (session !== undefined && deps.gateway.send(hostId, offer)) deps.work.offeredIn.set(offer.attemptId, session);
  }
}
