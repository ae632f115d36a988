import { deriveHostClass } from '@gpufleet/shared/probes';
import { DiagnosisSection, type Section } from '@gpufleet/shared/protocol';
import type { Deps } from '../deps.ts';
import { recordDiagnosis } from '../resources/findings/index.ts';
import { latestFacts, listSectionHashes, recordSection, setHostClass } from '../resources/hosts/index.ts';
import { type HostEntry, knownSections, sectionsDigestOf } from './host-directory.ts';
import { createKeyBatch } from './key-batch.ts';

/** A section's body is at most this long, whatever the message limit. */
const maxBodyCharacters = 512 * 1024;
/** A host of unknown class is classified as soon as its first reports are in, a known one when things have calmed. */
const firstClassDelayMs = 200;
const classDelayMs = 2_000;
const maxReporting = 1_000;

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
  const reporting = new Map<string, Record<string, string>>();
  const classified = new Set<string>();
  const unknown = createKeyBatch({ clock, log, delayMs: firstClassDelayMs }, classify);
  const known = createKeyBatch({ clock, log, delayMs: classDelayMs }, classify);

  /** The class follows from all facts together: derived once after a burst of sections, not once for each. */
  async function classify(hostId: string): Promise<void> {
    const hostClass = deriveHostClass(await latestFacts(db.read, hostId));
    await db.write((tx) => setHostClass(tx, clock.nowMs(), hostId, hostClass));
    classified.add(hostId);
  }

  /** Hashes of hosts that send sections now; the store is read once for each burst. */
  async function noteHash(host: HostEntry, name: string, hash: string): Promise<void> {
    const hashes = reporting.get(host.id) ?? (await listSectionHashes(db.read, host.id));
    reporting.set(host.id, { ...hashes, [name]: hash });
    const oldest = reporting.keys().next().value;
    if (reporting.size > maxReporting && oldest !== undefined) reporting.delete(oldest);
    host.sectionsDigest = sectionsDigestOf(reporting.get(host.id) ?? {});
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
      const text = JSON.stringify(body);
      if (text.length > maxBodyCharacters) return { ok: false, detail: `section ${name} is too long` };
      const diagnosis = name === 'diagnosis' ? DiagnosisSection.safeParse(body) : undefined;
      if (diagnosis && !diagnosis.success) {
        const issue = diagnosis.error.issues[0];
        return { ok: false, detail: `section diagnosis: ${issue?.path.join('.')}: ${issue?.message}` };
      }
      const atMs = clock.nowMs();
      const keepChanges = config.keep.factChangesPerHost;
      await db.write(async (tx) => {
        const isNew = await recordSection(tx, { hostId: host.id, name, hash, body, text, atMs, keepChanges });
        if (isNew && diagnosis) await recordDiagnosis(tx, { host, diagnosis: diagnosis.data, atMs, newId: deps.newId });
      });
      await noteHash(host, name, hash);
      if (name !== 'diagnosis') (classified.has(host.id) ? known : unknown).add(host.id);
      return { ok: true };
    },
    async close() {
      await unknown.close();
      await known.close();
    },
  };
}
