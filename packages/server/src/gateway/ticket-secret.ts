import { findMeta, setMeta } from '../db/index.ts';
import type { Deps } from '../deps.ts';

const key = 'ticketSecret';

/** Made once for each store. */
export async function loadTicketSecret(deps: Pick<Deps, 'db' | 'randomToken'>): Promise<string> {
  return deps.db.write(async (tx) => {
    const kept = await findMeta(tx, key);
    if (kept !== undefined) return kept;
    const secret = deps.randomToken(32);
    await setMeta(tx, key, secret);
    return secret;
  });
}
