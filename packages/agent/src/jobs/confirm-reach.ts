import type { PlanReason } from '@gpufleet/shared/jobs';
import { lostRoutes, readRoutes } from './routes.ts';
import type { Runner } from './run-attempt.ts';

/** An agent that is connected hears its server every 30 s; a link that broke is dialled again within this. */
const serverWordMs = 90_000;
const confirmWithinMs = 240_000;
const pollEveryMs = 2_000;

/**
 * After a change that can cut the host off: the server is heard, or the ways out of the host are those of before. A
 * server that is away for reasons of its own must not undo a good change, so after a while the host's own look counts.
 */
export async function confirmReach(
  runner: Pick<Runner, 'clock' | 'host' | 'pause' | 'isStopping' | 'serverHeardAtMs'>,
  origin: 'server' | 'local',
  routesBefore: readonly string[] | null,
): Promise<{ ok: boolean; because: PlanReason[] } | 'stopped'> {
  const { clock, host } = runner;
  const sinceMs = clock.monotonicMs();
  for (;;) {
    const waitedMs = clock.monotonicMs() - sinceMs;
    if ((runner.serverHeardAtMs?.() ?? -1) > sinceMs) return word(true, 'server_heard', 'the server is heard again');
    if (origin === 'local' || waitedMs >= serverWordMs) {
      const lost = await lostSince(host, routesBefore);
      if (lost === null) return word(true, 'routes_as_before', 'the ways out of this host are those of before');
      if (waitedMs >= confirmWithinMs) return word(false, 'not_confirmed', `the server is not heard, and ${lost}`);
    }
    await runner.pause(pollEveryMs);
    if (runner.isStopping()) return 'stopped';
  }
}

/** What is worse than before, or null. */
async function lostSince(host: Runner['host'], before: readonly string[] | null): Promise<string | null> {
  if (before === null) return 'the ways out of this host were not readable before the change';
  const now = await readRoutes(host);
  if (now === null) return 'the ways out of this host are not readable';
  const lost = lostRoutes(before, now);
  return lost.length === 0 ? null : `this host has lost ${lost.join(', ')}`;
}

function word(ok: boolean, because: string, detail: string): { ok: boolean; because: PlanReason[] } {
  return { ok, because: [{ because, detail }] };
}
