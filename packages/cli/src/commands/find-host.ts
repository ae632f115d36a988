import { Host } from '@gpufleet/shared/api';
import type { Client } from '../client.ts';
import { CliError, exitCodes } from '../exit.ts';

/** A host by id or by its name; a name that several hosts bear needs the id. */
export async function findHost(client: Client, idOrName: string): Promise<Host> {
  if (idOrName.startsWith('host_')) return client.get(Host, `/hosts/${encodeURIComponent(idOrName)}`);
  const named = await client.list(Host, '/hosts', { name: idOrName }, 10);
  const exact = named.filter((host) => host.name === idOrName);
  const [first] = exact;
  if (first === undefined) throw new CliError(exitCodes.bad, `no host is called ${idOrName}: see gpufleet host list`);
  if (exact.length > 1)
    throw new CliError(
      exitCodes.usage,
      `${exact.length} hosts are called ${idOrName}, give an id: ${exact.map(({ id, siteId }) => `${id} (${siteId})`).join(', ')}`,
    );
  return first;
}
