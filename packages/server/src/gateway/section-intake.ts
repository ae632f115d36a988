import { DiagnosisSection, type Section, sectionsDigestOf } from '@gpufleet/shared/protocol';
import type { Deps } from '../deps.ts';
import { recordDiagnosis } from '../resources/findings/index.ts';
import { listSectionHashes, recordSection } from '../resources/hosts/index.ts';
import { bodyTextOf } from './body-text.ts';
import { createFactHistory } from './fact-history.ts';
import { type HostEntry, knownSections } from './host-directory.ts';

/** A section's body is at most this long, whatever the message limit. */
const maxBodyCharacters = 512 * 1024;
/** Hosts whose stored hashes are remembered while they report. */
const maxReporting = 1_000;

export type Intake = { ok: true } | { ok: false; detail: string };

export interface SectionIntake {
  /** Sections whose stored hash differs from what the agent has now, in the order to ask for them. */
  staleSections(host: HostEntry, hashes: Readonly<Record<string, string>>): Promise<string[]>;
  /** Resolves after the commit. `message` is the section as it came. */
  take(host: HostEntry, section: Section, message: string): Promise<Intake>;
  close(): Promise<void>;
}

export function createSectionIntake(deps: Deps): SectionIntake {
  const { db, clock } = deps;
  const history = createFactHistory(deps);
  const reporting = new Map<string, Record<string, string>>();

  /** The store is read once for each burst of a host's sections. */
  async function noteHash(host: HostEntry, name: string, hash: string): Promise<void> {
    const hashes = reporting.get(host.id) ?? (await listSectionHashes(db.read, host.id));
    hashes[name] = hash;
    reporting.set(host.id, hashes);
    const oldest = reporting.keys().next().value;
    if (reporting.size > maxReporting && oldest !== undefined) reporting.delete(oldest);
    host.sectionsDigest = sectionsDigestOf(hashes);
  }

  return {
    async staleSections(host, hashes) {
      if (host.sectionsDigest === sectionsDigestOf(hashes)) return [];
      const stored = await listSectionHashes(db.read, host.id);
      return knownSections.filter((name) => Object.hasOwn(hashes, name) && stored[name] !== hashes[name]);
    },
    async take(host, section, message) {
      const { name, hash } = section;
      // From a newer agent: acknowledged, so that it is not sent again; it is not asked for either.
      if (!knownSections.includes(name)) return { ok: true };
      const text = bodyTextOf(section, message);
      if (text === undefined) return { ok: false, detail: `section ${name} is nested too deep` };
      if (text.length > maxBodyCharacters) return { ok: false, detail: `section ${name} is too long` };
      const diagnosis = name === 'diagnosis' ? DiagnosisSection.safeParse(section.body) : undefined;
      if (diagnosis && !diagnosis.success) {
        const issue = diagnosis.error.issues[0];
        return { ok: false, detail: `section diagnosis: ${issue?.path.join('.')}: ${issue?.message}` };
      }
      const atMs = clock.nowMs();
      // The diagnosis has its own history: the findings.
      const hasHistory = diagnosis === undefined;
      const recorded = await db.write(async (tx) => {
        const wantsBefore = hasHistory && !history.holds(host.id, name);
        const result = await recordSection(tx, { hostId: host.id, name, hash, text, atMs }, wantsBefore);
        if (diagnosis && result.isNew)
          await recordDiagnosis(tx, { host, diagnosis: diagnosis.data, atMs, newId: deps.newId });
        return result;
      });
      await noteHash(host, name, hash);
      if (recorded.isNew && hasHistory) await history.stored(host.id, name, recorded.before);
      return { ok: true };
    },
    close: history.close,
  };
}
