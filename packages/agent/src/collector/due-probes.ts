import { type ProbeKey, probes } from '@gpufleet/shared/probes';

/**
 * Which probes are to run now, in the registry's order. `lastReadAtMs` and `nowMs` are of one monotonic clock; a probe
 * that never ran is due, and so is one that seems to have run later than now (another boot's clock).
 */
export function dueProbes(lastReadAtMs: Partial<Record<ProbeKey, number>>, nowMs: number): ProbeKey[] {
  return probes
    .filter(({ key, everyMs }) => {
      const last = lastReadAtMs[key];
      return last === undefined || last > nowMs || nowMs - last >= everyMs;
    })
    .map(({ key }) => key);
}
