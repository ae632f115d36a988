import { type Section, sectionsDigestOf } from '@gpufleet/shared/protocol';

export type ReportSection = Omit<Section, 'type'>;

/**
 * Which sections the server has, and which it is owed. What differed at the hello is sent when the server asks for it, so that
 * a restarted server is not met by every host's report at once; what changes later is sent as it changes.
 */
export interface Reporter {
  begin(helloHashes: Readonly<Record<string, string>>, staleSections: readonly string[]): void;
  end(): void;
  /** Names that the server wants now. */
  want(names: readonly string[]): void;
  observed(sections: readonly ReportSection[]): void;
  /** Of everything reported; undefined while something is still owed. */
  digest(): string | undefined;
}

export function createReporter(send: (section: ReportSection) => boolean): Reporter {
  let current = new Map<string, ReportSection>();
  /** By name: the hash that the server has or was sent in this session; what got lost with a session shows at the next hello. */
  let known = new Map<string, string>();
  let held = new Set<string>();
  let online = false;

  let digest: string | undefined;

  function deriveDigest(): string | undefined {
    for (const { name, hash } of current.values()) if (held.has(name) || known.get(name) !== hash) return undefined;
    return current.size === 0 ? undefined : sectionsDigestOf(Object.fromEntries(known));
  }

  function sendOwed(): void {
    sendSections();
    digest = deriveDigest();
  }

  function sendSections(): void {
    if (!online) return;
    for (const section of current.values()) {
      if (held.has(section.name) || known.get(section.name) === section.hash) continue;
      if (!send(section)) return;
      known.set(section.name, section.hash);
    }
  }

  return {
    begin(helloHashes, staleSections) {
      held = new Set(staleSections);
      known = new Map(Object.entries(helloHashes).filter(([name]) => !held.has(name)));
      online = true;
      sendOwed();
    },
    end() {
      online = false;
    },
    want(names) {
      for (const name of names) {
        held.delete(name);
        known.delete(name);
      }
      sendOwed();
    },
    observed(sections) {
      current = new Map(sections.map((section) => [section.name, section]));
      sendOwed();
    },
    digest: () => digest,
  };
}
