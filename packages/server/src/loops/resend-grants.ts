import type { AppDeps } from '../deps.ts';
import { findAttemptRow, listGrantedAttempts } from '../resources/jobs/index.ts';
import { tellAgain } from './reconcile-host.ts';

/** Silence of a granted attempt on a host in session after which its grant is sent again. */
const silenceMs = 60_000;

/**
 * A grant that was lost, or refused for a passing reason, would hold its host for ever. An agent that runs the attempt
 * takes the repeat for what it is; one that has the result sends it; one that will never begin says so.
 */
export async function resendGrants(deps: AppDeps): Promise<void> {
  const { db, gateway, work, clock } = deps;
  const granted = await listGrantedAttempts(db.read);
  const ids = new Set(granted.map((attempt) => attempt.id));
  for (const id of work.lastWordMs.keys()) if (!ids.has(id)) work.lastWordMs.delete(id);
  for (const { id, hostId } of granted) {
    const lastWordMs = work.lastWordMs.get(id);
    if (lastWordMs === undefined) work.lastWordMs.set(id, clock.monotonicMs());
    else if (clock.monotonicMs() - lastWordMs >= silenceMs && gateway.isOnline(hostId)) {
      const attempt = await findAttemptRow(db.read, id);
      if (attempt?.state === 'granted') for (const message of tellAgain(attempt)) gateway.send(hostId, message);
      work.lastWordMs.set(id, clock.monotonicMs());
    }
  }
}
