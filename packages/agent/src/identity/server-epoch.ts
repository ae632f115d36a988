import { z } from 'zod';
import type { StateDir } from '../host/state-dir.ts';

const epochFile = 'server-epoch.json';
const Stored = z.object({ serverEpoch: z.int() });

/** The highest server epoch that this host has ever seen: how a server restored from a backup learns how old it is. */
export interface ServerEpoch {
  seen(): number;
  learn(serverEpoch: number): Promise<void>;
}

export async function openServerEpoch(state: StateDir): Promise<ServerEpoch> {
  let seen = parseEpoch(await state.read(epochFile));
  return {
    seen: () => seen,
    async learn(serverEpoch) {
      if (serverEpoch <= seen) return;
      seen = serverEpoch;
      await state.write(epochFile, `${JSON.stringify({ serverEpoch } satisfies z.infer<typeof Stored>)}\n`);
    },
  };
}

function parseEpoch(text: string | undefined): number {
  if (text === undefined) return 0;
  try {
    return Stored.parse(JSON.parse(text)).serverEpoch;
  } catch {
    // A damaged number is worth less than a connection: the next welcome tells the present one.
    return 0;
  }
}
