import { PlanReason } from '@gpufleet/shared/jobs';
import { z } from 'zod';
import type { StateDir } from '../host/state-dir.ts';

const quarantineFile = 'quarantine.json';
const releasesFile = 'releases.jsonl';

/** What a failed roll-back leaves: this host takes no job until a person has looked at it. */
export const Quarantine = z.object({ attemptId: z.string(), because: z.array(PlanReason), sinceMs: z.number() });
export type Quarantine = z.infer<typeof Quarantine>;

/** The person's word that ended a quarantine. */
export const Release = z.object({ quarantine: Quarantine, reason: z.string(), releasedAtMs: z.number() });
export type Release = z.infer<typeof Release>;

export interface QuarantineStore {
  read(): Promise<Quarantine | null>;
  begin(quarantine: Quarantine): Promise<void>;
  end(release: Release): Promise<void>;
  /** Oldest first. */
  releases(): Promise<Release[]>;
}

export function createQuarantineStore(state: StateDir): QuarantineStore {
  return {
    async read() {
      const text = await state.read(quarantineFile);
      return text === undefined ? null : parseQuarantine(text);
    },
    begin: (quarantine) => state.write(quarantineFile, JSON.stringify(quarantine)),
    async end(release) {
      // The reason is on record before the host takes work again.
      await state.appendLine(releasesFile, JSON.stringify(release));
      await state.remove(quarantineFile);
    },
    releases: async () => (await state.readLines(releasesFile)).flatMap(parseRelease),
  };
}

/** A line that a failing disk mangled is nobody's word. */
function parseRelease(line: string): Release[] {
  try {
    return [Release.parse(JSON.parse(line))];
  } catch {
    return [];
  }
}

/** A damaged record still says that there was one: the host stays closed. */
function parseQuarantine(text: string): Quarantine {
  try {
    return Quarantine.parse(JSON.parse(text));
  } catch (error) {
    const detail = `${quarantineFile} of the state folder is damaged: ${error instanceof SyntaxError ? error.message : 'other fields than expected'}`;
    return { attemptId: 'unknown', because: [{ because: 'state_damaged', detail }], sinceMs: 0 };
  }
}

/** Why an offer is declined or a run refused, with the way out. */
export function whyQuarantined({ attemptId }: Quarantine): string {
  return `attempt ${attemptId} could not be put back, or its record is damaged: look at this host, then run \`gpufleet-agent release --reason TEXT\` on it`;
}
