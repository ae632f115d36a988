import type { AppDeps } from '../deps.ts';
import { listOpenRollouts } from '../resources/rollouts/index.ts';
import { auditCounters } from './audit-counters.ts';
import { endAbandonedJobs } from './end-abandoned-jobs.ts';
import { resendGrants } from './resend-grants.ts';
import { tickManualJobs } from './tick-manual-jobs.ts';
import { sendOfferings, tickRollout } from './tick-rollout.ts';

/** Looked at again after this long even if nothing was heard: a changed site tells nobody. */
const atLeastEveryMs = 5_000;
const auditEveryMs = 60_000;
/** Moves of one rollout in one go; a chain longer than this goes on at the next look. */
const maxMoves = 20;

/**
 * The loop that moves rollouts and offers jobs. It sleeps until something is told to it or a rollout's own time has
 * come; each rollout fails alone.
 */
export function startWorkLoop(deps: AppDeps): () => Promise<void> {
  const { db, clock, config, log, metrics, work } = deps;
  const dueAtMs = new Map<string, number>();
  let isDirty = true;
  let lookAgainAtMs = 0;
  let auditedAtMs = clock.monotonicMs();
  let running: Promise<void> = Promise.resolve();
  const wake = () => {
    isDirty = true;
  };

  async function look(): Promise<void> {
    const isAll = isDirty || clock.monotonicMs() >= lookAgainAtMs;
    if (!isAll && Math.min(...dueAtMs.values()) > clock.nowMs()) return;
    isDirty = false;
    if (isAll) lookAgainAtMs = clock.monotonicMs() + atLeastEveryMs;
    const open = await listOpenRollouts(db.read);
    for (const id of dueAtMs.keys()) if (!open.some((rollout) => rollout.id === id)) dueAtMs.delete(id);
    for (const { id, startedAtMs, expiresAtMs } of open) {
      // One that was not started has nothing to do but to expire.
      const isDue = startedAtMs === null ? (expiresAtMs ?? Number.POSITIVE_INFINITY) <= clock.nowMs() : isAll;
      if (isDue || (dueAtMs.get(id) ?? Number.POSITIVE_INFINITY) <= clock.nowMs())
        await guarded('rollout', { rolloutId: id }, () => tick(id));
    }
    if (!isAll) return;
    await guarded('abandoned', {}, () => endAbandonedJobs(deps));
    await guarded('jobs', {}, async () => sendOfferings(deps, await tickManualJobs(deps)));
    await guarded('grants', {}, () => resendGrants(deps));
    if (clock.monotonicMs() - auditedAtMs < auditEveryMs) return;
    auditedAtMs = clock.monotonicMs();
    for (const { id } of open) await guarded('audit', { rolloutId: id }, () => auditCounters(deps, id));
  }

  async function tick(id: string): Promise<void> {
    for (let moves = 0; moves < maxMoves; moves += 1) {
      const { offerings, moved, wakeAtMs } = await tickRollout(deps, id);
      sendOfferings(deps, offerings);
      dueAtMs.set(id, wakeAtMs ?? Number.POSITIVE_INFINITY);
      if (!moved) return;
    }
    isDirty = true;
  }

  async function guarded(loop: string, about: object, action: () => Promise<void>): Promise<void> {
    try {
      await action();
      metrics.loopRuns.inc({ loop, outcome: 'ok' });
    } catch (error) {
      metrics.loopRuns.inc({ loop, outcome: 'failed' });
      log.error({ err: error, loop, ...about }, 'loop failed');
      // Tried again at the next look, however it failed.
      isDirty = true;
    }
  }

  const ends = [
    db.onCommit('rollouts', wake),
    db.onCommit('jobs', wake),
    db.onCommit('hosts', wake),
    work.onWake(wake),
    clock.every(config.tickEveryMs, () => {
      running = guarded('work', {}, look);
      return running;
    }),
  ];
  return async () => {
    for (const end of ends) end();
    await running;
  };
}
