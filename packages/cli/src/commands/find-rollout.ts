import { Rollout } from '@gpufleet/shared/api';
import type { Client } from '../client.ts';
import { CliError, exitCodes } from '../exit.ts';

/** By id, or by name: the newest of that name. */
export async function findRollout(client: Client, idOrName: string): Promise<Rollout> {
  if (idOrName.startsWith('rollout_')) return client.get(Rollout, `/rollouts/${encodeURIComponent(idOrName)}`);
  const named = (await client.list(Rollout, '/rollouts', {}, 5000)).filter(({ name }) => name === idOrName);
  const newest = named.sort((a, b) => b.createdAtMs - a.createdAtMs)[0];
  if (newest === undefined)
    throw new CliError(exitCodes.bad, `no rollout is called ${idOrName}: see gpufleet rollout list`);
  return newest;
}
