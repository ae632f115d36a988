import {
  declineRetryMs,
  findHold,
  type GrantQuestion,
  type Hold,
  hitsControlPlane,
  offerTtlMs,
} from '@gpufleet/shared/rollouts';
import type { AttemptRow } from './attempt-store.ts';
import type { FleetView } from './fleet-view.ts';
import type { JobRow } from './job-store.ts';
import { previewWorstCaseMs } from './preview-request.ts';

/** The question of a job that a person asked for: no rollout, no wave, no budget; the host's lock is the same. */
export function manualQuestion(job: JobRow, fleet: FleetView, nowMs: number): GrantQuestion | undefined {
  const host = fleet.hosts.get(job.hostId);
  const site = host && fleet.sites.get(host.siteId);
  if (!host || !site) return undefined;
  return {
    nowMs,
    rollout: null,
    wave: null,
    host,
    site,
    cluster: host.clusterId === null ? null : (fleet.clusters.get(host.clusterId) ?? null),
    hitsControlPlane: hitsControlPlane(job.request),
    worstCaseMs: previewWorstCaseMs(job.request),
    reconciliation: fleet.reconciliation,
  };
}

/** Why a queued manual job is not offered now; undefined: it may be. `attempt` is its latest. */
export function findManualHold(
  job: JobRow,
  attempt: AttemptRow | undefined,
  parts: { fleet: FleetView; nowMs: number; offeredIn: ReadonlyMap<string, number>; sessionEpoch: number | undefined },
): Hold | undefined {
  const { fleet, nowMs, offeredIn, sessionEpoch } = parts;
  const question = manualQuestion(job, fleet, nowMs);
  if (!question) return { because: 'policy', detail: 'its host is gone', clearedBy: 'a person', wakeAtMs: null };
  const hold = findHold(question);
  if (hold || !attempt) return hold;
  if (attempt.state === 'declined' && nowMs < attempt.offeredAtMs + declineRetryMs)
    return {
      because: 'precheck',
      detail: attempt.declinedBecause?.map((reason) => `${reason.because}: ${reason.detail}`).join('; ') ?? '',
      clearedBy: 'the host plans it',
      wakeAtMs: attempt.offeredAtMs + declineRetryMs,
    };
  const isOpen = attempt.state === 'offered' && offeredIn.get(attempt.id) === sessionEpoch;
  if (!isOpen || nowMs >= attempt.offeredAtMs + offerTtlMs) return undefined;
  return {
    because: 'precheck',
    detail: 'the host was asked and is planning',
    clearedBy: 'its answer',
    wakeAtMs: attempt.offeredAtMs + offerTtlMs,
  };
}
