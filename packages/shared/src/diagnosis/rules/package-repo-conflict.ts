import type { PackageRepository } from '../../probes/packages/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';

export const packageRepoConflict = defineRule({
  code: 'PACKAGE_REPO_BROKEN',
  layer: 'host',
  severity: 'warning',
  title: 'Two apt entries name one address and suite with different keyrings: apt then reads no list at all',
  notWhen: 'entries that are switched off; different suites of one address; rpm',
  proposes: ['repair_packages'],
  needs: ['packages'],
  check({ packages }, asked) {
    const unread = asked.unread('packages', 'repositories');
    const found = conflicts(packages.repositories).map(toFinding);
    return unread && found.length === 0
      ? { cannotTell: `not every list of repositories could be read: ${unread}` }
      : found;
  },
});

/** As apt compares them: address and suite, whatever the kind of entry, and a last slash more or less. */
function conflicts(repositories: readonly PackageRepository[]): PackageRepository[][] {
  const places = new Map<string, PackageRepository[]>();
  for (const entry of repositories) {
    if (!entry.enabled || entry.suite === null) continue;
    const place = `${entry.uri.replace(/\/+$/, '')} ${entry.suite}`;
    places.set(place, [...(places.get(place) ?? []), entry]);
  }
  return [...places.values()].filter((entries) => new Set(entries.map(({ signedBy }) => signedBy)).size > 1);
}

function toFinding(entries: PackageRepository[]): Found {
  const [first] = entries;
  const uri = first?.uri ?? '';
  const isNvidia = entries.some((entry) => entry.isNvidia);
  // Current installers name a keyring; the entry without one is what an older installer left.
  const leftover = entries.find(({ signedBy }) => signedBy === null) ?? entries.at(-1);
  const files = [...new Set(entries.map(({ file }) => file))].join(' and ');
  const advice = `Keep a copy of ${leftover?.file ?? files}, remove its entry for ${uri}, then run apt-get update`;
  return {
    subject: `file:${leftover?.file ?? files}`,
    severity: isNvidia ? 'warning' : 'info',
    summary: `${files} name ${uri} with different keyrings (Signed-By): every apt command on this host fails`,
    evidence: entries.map(({ file, line, signedBy }) => ({
      source: sources.file(file),
      quote: `line ${line}: ${uri} ${first?.suite ?? ''}, ${signedBy === null ? 'without signed-by' : `signed-by ${signedBy}`}`,
    })),
    remedy: isNvidia ? { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' } : null,
    person: isNvidia ? null : advice,
  };
}
