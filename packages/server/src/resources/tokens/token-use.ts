import { eq } from 'drizzle-orm';
import type { Deps } from '../../deps.ts';
import { apiTokenTable } from './table.ts';

const flushEveryMs = 30_000;

export interface TokenUse {
  note(tokenId: string): void;
  flush(): Promise<void>;
}

/** Remembers when each token was last used and writes it down now and then: no write for each request. */
export function createTokenUse(deps: Pick<Deps, 'clock' | 'db' | 'log'>): TokenUse {
  const used = new Map<string, number>();
  let isDue = false;

  async function flush(): Promise<void> {
    isDue = false;
    const entries = [...used];
    used.clear();
    if (entries.length === 0) return;
    await deps.db.write(async (tx) => {
      for (const [id, lastUsedAtMs] of entries)
        await tx.update(apiTokenTable).set({ lastUsedAtMs }).where(eq(apiTokenTable.id, id));
    });
  }

  return {
    note(tokenId) {
      used.set(tokenId, deps.clock.nowMs());
      if (isDue) return;
      isDue = true;
      deps.clock.after(flushEveryMs, () => {
        flush().catch((error: unknown) => deps.log.error({ err: error }, 'token use was not written down'));
      });
    },
    flush,
  };
}
