import type { FactValue } from '../../probes/facts.ts';
import type { PackageRepository } from '../../probes/packages/fact.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';

/** With which NVIDIA signs its CUDA repositories since April 2022. */
const cudaKey = 'A4B469963BF863CC';

export const packageRepoKey = defineRule({
  code: 'PACKAGE_REPO_BROKEN',
  layer: 'host',
  severity: 'warning',
  title: 'An NVIDIA apt repository whose keyring is not there, or a CUDA repository without the key of April 2022',
  notWhen: 'cuda-keyring is installed; the key is in the entry itself; repositories of others; rpm',
  proposes: ['repair_packages'],
  needs: ['packages'],
  check({ packages }) {
    const found = new Map<string, Found>();
    let unread: string | null = null;
    for (const entry of packages.repositories) {
      if (!entry.enabled || !entry.isNvidia || entry.suite === null || found.has(entry.file)) continue;
      const missing = missingKeyring(entry, packages.keyrings) ?? missingCudaKey(entry, packages);
      if (missing === 'unreadable') unread = `the keyrings that could vouch for ${entry.uri} could not be read`;
      else if (missing) found.set(entry.file, toFinding(entry, missing));
    }
    return unread !== null && found.size === 0 ? { cannotTell: unread } : [...found.values()];
  },
});

interface Missing {
  what: string;
  evidence: Found['evidence'];
}

function missingKeyring({ signedBy }: PackageRepository, keyrings: FactValue<'packages'>['keyrings']): Missing | null {
  const named = keyrings.filter(({ path }) => signedBy?.split(',').includes(path));
  if (named.length === 0 || named.some(({ present }) => present)) return null;
  const paths = named.map(({ path }) => path);
  return {
    what: `its keyring ${paths.join(', ')} is not there`,
    evidence: paths.map((path) => ({ source: sources.file(path), quote: 'absent' })),
  };
}

/** Only keyrings that could all be read prove that a key is in none of them. */
function missingCudaKey(
  { uri, signedBy }: PackageRepository,
  { packages, keyrings }: FactValue<'packages'>,
): Missing | 'unreadable' | null {
  if (!/\/compute\/cuda\/repos\//.test(uri) || packages.some(({ name }) => name === 'cuda-keyring')) return null;
  const named = signedBy?.split(',');
  // Without a name apt asks the keyrings that it trusts for every repository.
  const isAsked = (path: string) => named?.includes(path) ?? path.startsWith('/etc/apt/trusted.gpg');
  const asked = keyrings.filter(({ path, present }) => present && isAsked(path));
  if (signedBy !== null && asked.length === 0) return null;
  if (asked.some(({ keyIds }) => keyIds?.includes(cudaKey))) return null;
  if (asked.some(({ keyIds }) => keyIds === null)) return 'unreadable';
  return {
    what: `no keyring that apt asks has its key ${cudaKey} (changed in April 2022)`,
    evidence: [
      ...asked.map(({ path, keyIds }) => ({
        source: sources.file(path),
        quote: `keys ${keyIds?.join(', ') || 'none'}`,
      })),
      { source: sources.packages, quote: 'cuda-keyring: not installed' },
    ],
  };
}

function toFinding({ file, line, uri }: PackageRepository, { what, evidence }: Missing): Found {
  return {
    subject: `file:${file}`,
    severity: 'warning',
    summary: `apt cannot verify ${uri}: ${what}`,
    evidence: [{ source: sources.file(file), quote: `line ${line}: ${uri}` }, ...evidence],
    remedy: { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'auto' },
    person: null,
  };
}
