import { countSlots, recountSlot, type Snapshot } from '@gpufleet/shared/rollouts';
import type { Db } from '../db/index.ts';
import type { AppDeps } from '../deps.ts';
import { recordAudit } from '../resources/audit/index.ts';
import { listAttemptsOfJobs } from '../resources/jobs/index.ts';
import { type LoadedRollout, loadRollout, writeChanges } from '../resources/rollouts/index.ts';

const auditedStates = ['running', 'waiting_window', 'completing', 'paused'];

/** Counts every slot again from its attempts' results. A slot that says otherwise halts the rollout. */
export async function auditCounters(deps: AppDeps, rolloutId: string): Promise<void> {
  if ((await findMismatch(deps.db.read, await loadRollout(deps.db.read, rolloutId))) === undefined) return;
  await deps.db.write(async (tx) => {
    const loaded = await loadRollout(tx, rolloutId);
    const mismatch = await findMismatch(tx, loaded);
    if (mismatch === undefined || !auditedStates.includes(loaded.snapshot.rollout.state)) return;
    const atMs = deps.clock.nowMs();
    const rollout = { state: 'halted', because: 'counters_differ', becauseDetail: mismatch } as const;
    await writeChanges(tx, loaded.snapshot, { rollout }, atMs);
    const target = `rollout:${rolloutId}`;
    const action = 'rollout.halt';
    await recordAudit(tx, { atMs, actor: 'system:auditor', requestId: null, action, target, after: { mismatch } });
    deps.log.error({ rolloutId, mismatch }, 'gate counters differ from the attempts');
  });
}

async function findMismatch(db: Db, { snapshot, jobRows }: LoadedRollout): Promise<string | undefined> {
  const attempts = await listAttemptsOfJobs(
    db,
    jobRows.map((job) => job.id),
  );
  for (const slot of snapshot.slots) {
    const jobs = jobRows.filter((job) => job.slotId === slot.id);
    const outcomes = jobs.map((job) => attempts.filter((each) => each.jobId === job.id && each.result !== null).at(-1));
    const recounted = recountSlot(outcomes.map((attempt) => attempt?.result?.outcome ?? null));
    if (recounted !== undefined && isSettledByResult(slot) && slot.state !== recounted)
      return `slot ${slot.id} is ${slot.state}, its attempts say ${recounted}`;
  }
  return undefined;
}

function isSettledByResult(slot: Snapshot['slots'][number]): boolean {
  const { good, bad } = countSlots([{ ...slot, disposition: null }], { percent: 0, max: 0 });
  return good + bad > 0;
}
