import { deriveHostClass } from '@gpufleet/shared/probes';
import { DiagnosisSection, type Section } from '@gpufleet/shared/protocol';
import type { Deps } from '../deps.ts';
import { recordDiagnosis } from '../resources/findings/index.ts';
import { latestFacts, listSectionHashes, recordSection, setHostClass } from '../resources/hosts/index.ts';
import { type HostEntry, knownSections, sectionsDigestOf } from './host-directory.ts';

/** A section's body is at most this long, whatever the message limit. */
const maxBodyCharacters = 512 * 1024;
const classDelayMs = 200;

export type Intake = { ok: true } | { ok: false; detail: string };

export interface SectionIntake {
  /** Sections whose stored hash differs from what the agent has now, in the order to ask for them. */
  staleSections(host: HostEntry, hashes: Readonly<Record<string, string>>): Promise<string[]>;
  /** Resolves after the commit. */
  take(host: HostEntry, section: Section): Promise<Intake>;
  close(): Promise<void>;
}

export function createSectionIntake(deps: Deps): SectionIntake {
  const { db, clock, log, config } = deps;
  const dirty = new Set<string>();
  let cancelRefresh: (() => void) | undefined;
  let refreshing: Promise<void> = Promise.resolve();

  /** The class follows from all facts together: derived once after a burst of sections, not once for each. */
  async function refreshClasses(): Promise<void> {
    cancelRefresh = undefined;
    const hostIds = [...dirty];
    dirty.clear();
    for (const hostId of hostIds) {
      const hostClass = deriveHostClass(await latestFacts(db.read, hostId));
      await db.write((tx) => setHostClass(tx, clock.nowMs(), hostId, hostClass));
    }
  }

  function refreshSoon(hostId: string): void {
    dirty.add(hostId);
    cancelRefresh ??= clock.after(classDelayMs, () => {
      refreshing = refreshClasses().catch((error: unknown) =>
        log.error({ err: error }, 'host classes were not derived'),
      );
    });
  }

  return {
    async staleSections(host, hashes) {
      if (host.sectionsDigest === sectionsDigestOf(hashes)) return [];
      const stored = await listSectionHashes(db.read, host.id);
      return knownSections.filter((name) => Object.hasOwn(hashes, name) && stored[name] !== hashes[name]);
    },
    async take(host, section) {
      const { name, hash, body } = section;
      // From a newer agent: acknowledged, so that it is not sent again; it is not asked for either.
      if (!knownSections.includes(name)) return { ok: true };
      if (JSON.stringify(body).length > maxBodyCharacters) return { ok: false, detail: `section ${name} is too long` };
      const diagnosis = name === 'diagnosis' ? DiagnosisSection.safeParse(body) : undefined;
      if (diagnosis && !diagnosis.success) {
        const issue = diagnosis.error.issues[0];
        return { ok: false, detail: `section diagnosis: ${issue?.path.join('.')}: ${issue?.message}` };
      }
      const atMs = clock.nowMs();
      const keepChanges = config.keep.factChangesPerHost;
      await db.write(async (tx) => {
        const isNew = await recordSection(tx, { hostId: host.id, name, hash, body, atMs, keepChanges });
        if (isNew && diagnosis) await recordDiagnosis(tx, { host, diagnosis: diagnosis.data, atMs, newId: deps.newId });
      });
      host.sectionsDigest = sectionsDigestOf(await listSectionHashes(db.read, host.id));
      if (name !== 'diagnosis') refreshSoon(host.id);
      return { ok: true };
    },
    async close() {
      cancelRefresh?.();
      await refreshing;
      if (dirty.size > 0) await refreshClasses();
    },
  };
}
