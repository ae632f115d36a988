import type { Grant } from '@gpufleet/shared/protocol';
import { z } from 'zod';
import type { StateDir } from '../host/state-dir.ts';

const seenFile = 'grants-seen.jsonl';
const keepAtMost = 5_000;
const compactAbove = 6_000;

const Seen = z.object({ attemptId: z.string(), nonce: z.string(), expiresAtMs: z.number() });
type Seen = z.infer<typeof Seen>;

/** Every grant that was ever taken, on disk before it is acted on: none is taken twice, not even after a restart. */
export interface SeenGrants {
  has(grant: Grant): boolean;
  record(grant: Grant): Promise<void>;
}

export async function openSeenGrants(state: StateDir): Promise<SeenGrants> {
  let seen = (await state.readLines(seenFile)).flatMap((line) => {
    const entry = parseLine(line);
    return entry ? [entry] : [];
  });
  const attemptIds = new Set(seen.map((entry) => entry.attemptId));
  const nonces = new Set(seen.map((entry) => entry.nonce));
  return {
    has: (grant) => attemptIds.has(grant.attemptId) || nonces.has(grant.nonce),
    async record({ attemptId, nonce, expiresAtMs }) {
      const entry: Seen = { attemptId, nonce, expiresAtMs };
      attemptIds.add(attemptId);
      nonces.add(nonce);
      seen.push(entry);
      if (seen.length <= compactAbove) {
        await state.appendLine(seenFile, JSON.stringify(entry));
        return;
      }
      // The oldest have expired long ago: at one job a minute the list reaches back days, a grant lives minutes.
      seen = seen.slice(-keepAtMost);
      await state.write(seenFile, seen.map((kept) => `${JSON.stringify(kept)}\n`).join(''));
    },
  };
}

function parseLine(line: string): Seen | undefined {
  try {
    return Seen.parse(JSON.parse(line));
  } catch {
    // A line that a failing disk mangled names no grant; the others still count.
    return undefined;
  }
}
