import type { FactValue } from '../../probes/facts.ts';
import type { PackageRepository } from '../../probes/packages/fact.ts';
import { reason } from '../plan-parts.ts';
import type { PackageManager, PlanReason, Step } from '../step.ts';
import type { Packages } from './package-questions.ts';

/** Of NVIDIA's key for the container toolkit's repository, and of the one for CUDA since April 2022. */
export const toolkitFingerprint = 'C95B321B61E88C1809C4F759DDCAE044F796ECB0';
export const cudaFingerprint = 'EB693B3035CD5710E231E123A4B469963BF863CC';

const toolkitBase = 'https://nvidia.github.io/libnvidia-container';
export const toolkitKeyUrl = `${toolkitBase}/gpgkey`;
const listFile = '/etc/apt/sources.list.d/nvidia-container-toolkit.list';
const repoFile = '/etc/yum.repos.d/nvidia-container-toolkit.repo';
const keyFile = '/etc/apt/keyrings/nvidia-container-toolkit.asc';
const rpmKeyFile = '/etc/pki/rpm-gpg/RPM-GPG-KEY-nvidia-container-toolkit';

export interface WantedRepository {
  manager: PackageManager;
  channel: 'stable' | 'experimental';
  /** Of a mirror. */
  url?: string | undefined;
  keySource?: string | undefined;
  fingerprints?: readonly string[] | undefined;
}

export type RepositoryPlan =
  /** `file`: which one is to be fetched anew. */
  { ok: true; steps: Step[]; because: PlanReason[]; file: string } | { ok: false; because: PlanReason };

/** The toolkit's repository named once, with its keyring; what older instructions left beside it goes. */
export function planToolkitRepository(packages: Packages, wanted: WantedRepository): RepositoryPlan {
  const uri = addressOf(wanted);
  const isWanted = (entry: PackageRepository) =>
    sameAddress(entry.uri, uri) && (wanted.manager === 'dnf' || entry.suite === '/');
  const ours = packages.repositories.filter((entry) => entry.enabled && isOfToolkit(entry, uri));
  const good = ours.find((entry) => isWanted(entry) && hasKeyring(packages, entry));
  const others = ours.filter((entry) => entry !== good);
  if (good && others.length === 0) return { ok: true, steps: [], because: [], file: good.file };
  const mixed = others.find(({ file }) =>
    packages.repositories.some((entry) => entry.file === file && !isOfToolkit(entry, uri)),
  );
  if (mixed) return { ok: false, because: mixedFile(mixed, 'an entry of the toolkit among others') };
  const file = good?.file ?? (wanted.manager === 'apt' ? listFile : repoFile);
  const goodIsAlone = good !== undefined && !others.some((entry) => entry.file === good.file);
  const leftovers = [...new Set(others.map((entry) => entry.file))].filter((path) => path !== file);
  const removed = leftovers.map((path): Step | null => {
    const baseSha256 = hashOf(packages, path);
    return baseSha256 === null ? null : { do: 'remove_file', path, baseSha256 };
  });
  if (removed.includes(null))
    return { ok: false, because: reason('fact_unreadable', 'a list of repositories could not be read') };
  const because = [
    ...leftovers.map((path) =>
      reason('repository_outdated', `${path} names the toolkit's repository as older instructions did`),
    ),
    ...(goodIsAlone ? [] : [reason('repository_missing', `${uri} is not named with its keyring`)]),
  ];
  const written = goodIsAlone ? [] : writeRepository(packages, wanted, file, uri, good?.signedBy ?? null);
  // The old entry goes before the new one is written: two with different keyrings stop every command of apt.
  return { ok: true, steps: [...removed.filter((step) => step !== null), ...written], because, file };
}

function writeRepository(
  packages: Packages,
  wanted: WantedRepository,
  path: string,
  uri: string,
  keyring: string | null,
): Step[] {
  const { manager } = wanted;
  const known = keyring ?? keyringOf(packages);
  const key = known ?? (manager === 'apt' ? keyFile : rpmKeyFile);
  const fetched: Step[] =
    known !== null
      ? []
      : [
          {
            do: 'fetch_key',
            path: key,
            source: wanted.keySource ?? toolkitKeyUrl,
            fingerprints: [...(wanted.fingerprints ?? [toolkitFingerprint])],
            newMode: 0o644,
          },
        ];
  const contents = manager === 'apt' ? entryText(path, [uri], key) : repoText(uri, key);
  return [...fetched, { do: 'write_file', path, baseSha256: hashOf(packages, path), contents, newMode: 0o644 }];
}

/** In the form that the file's name promises. */
function entryText(path: string, addresses: readonly string[], key: string): string {
  if (!path.endsWith('.sources')) return addresses.map((uri) => `deb [signed-by=${key}] ${uri} /\n`).join('');
  return `Types: deb\nURIs: ${addresses.join(' ')}\nSuites: /\nSigned-By: ${key}\n`;
}

/** Packages of this repository carry no signature of their own: its metadata does. */
function repoText(uri: string, key: string): string {
  return `[nvidia-container-toolkit]
name=nvidia-container-toolkit
baseurl=${uri}
repo_gpgcheck=1
gpgcheck=0
enabled=1
gpgkey=file://${key}
sslverify=1
`;
}

function addressOf({ manager, channel, url }: WantedRepository): string {
  if (url !== undefined) return url;
  return manager === 'apt' ? `${toolkitBase}/${channel}/deb/$(ARCH)` : `${toolkitBase}/${channel}/rpm/$basearch`;
}

/** Also of the projects that the toolkit grew out of, whose repositories hold no current package. */
function isOfToolkit({ uri }: PackageRepository, wanted: string): boolean {
  return (
    sameAddress(uri, wanted) ||
    /^https?:\/\/nvidia\.github\.io\/(libnvidia-container|nvidia-container-runtime|nvidia-docker)(\/|$)/.test(uri)
  );
}

function sameAddress(a: string, b: string): boolean {
  const bare = (uri: string) => uri.replace(/\/+$/, '').replace(/\/deb\/(amd64|arm64)$/, '/deb/$(ARCH)');
  return bare(a) === bare(b);
}

/** A keyring that is not there proves that apt cannot use the entry; one that could not be looked at proves nothing. */
function hasKeyring(packages: Packages, { signedBy, suite }: PackageRepository): boolean {
  if (suite === null) return true;
  if (signedBy === null) return false;
  const named = signedBy.split(',');
  const seen = packages.keyrings.filter(({ path }) => named.includes(path));
  return seen.length === 0 || seen.some(({ present }) => present);
}

/** A keyring on the host that holds the toolkit's key. */
function keyringOf({ keyrings }: Packages): string | null {
  const id = toolkitFingerprint.slice(-16);
  return (
    keyrings.find(({ path, keyIds }) => keyIds?.includes(id) && !path.startsWith('/etc/apt/trusted.gpg'))?.path ?? null
  );
}

export function hashOf({ repositoryFiles }: Packages, path: string): string | null {
  return repositoryFiles?.find((file) => file.path === path)?.sha256 ?? null;
}

function mixedFile({ file, line }: PackageRepository, what: string): PlanReason {
  return reason('repository_file_mixed', `${file} holds ${what} (line ${line}): a person takes it out`);
}

/** Why the toolkit's repository cannot be reached from here, or null; a mirror's server is not asked. */
export function whyUnreachable(
  reachability: FactValue<'reachability'> | null,
  url: string | undefined,
): PlanReason | null {
  if (url !== undefined) return null;
  const target = reachability?.targets.find((one) => `${toolkitBase}/`.startsWith(one.url));
  if (!target || target.status !== null) return null;
  return reason(
    'repository_unreachable',
    `${target.url} gives no answer: ${target.error ?? 'no reason'} (folder installs from files)`,
  );
}

/**
 * NVIDIA's other entries that apt cannot use: those of one address with different keyrings, and those whose keyring is
 * missing. Each file is made anew with one entry for each address, or goes where another file has the same.
 */
export function planNvidiaRepositories(packages: Packages): RepositoryPlan {
  const entries = packages.repositories.filter(
    (entry) => entry.enabled && entry.isNvidia && entry.suite !== null && isCuda(entry),
  );
  const broken = entries.filter(
    (entry) => !hasKeyring(packages, entry) || lacksCudaKey(packages, entry) || conflicts(entries, entry),
  );
  if (broken.length === 0) return { ok: true, steps: [], because: [], file: '' };
  const first = broken[0];
  const mixed = broken.find(({ file }) => packages.repositories.some((entry) => entry.file === file && !isCuda(entry)));
  if (mixed) return { ok: false, because: mixedFile(mixed, 'an entry of NVIDIA among others') };
  const odd = broken.find(({ suite }) => suite !== '/');
  if (odd) return { ok: false, because: mixedFile(odd, 'an entry in a form that is not known') };
  const key = '/etc/apt/keyrings/cuda-archive-keyring.asc';
  const address = first?.uri.replace(/\/+$/, '') ?? '';
  const files = [...new Set(broken.map(({ file }) => file))];
  const [kept = '', ...gone] = files;
  const addresses = [...new Set(broken.map(({ uri }) => uri))];
  const steps: Step[] = gone.flatMap((path): Step[] => {
    const baseSha256 = hashOf(packages, path);
    return baseSha256 === null ? [] : [{ do: 'remove_file', path, baseSha256 }];
  });
  const source = `${address}/3bf863cc.pub`;
  steps.push(
    { do: 'fetch_key', path: key, source, fingerprints: [cudaFingerprint], newMode: 0o644 },
    {
      do: 'write_file',
      path: kept,
      baseSha256: hashOf(packages, kept),
      contents: entryText(kept, addresses, key),
      newMode: 0o644,
    },
  );
  const because = broken.map(({ file, line, uri }) =>
    reason('repository_key', `${file} line ${line}: apt cannot verify ${uri}`),
  );
  return { ok: true, steps, because, file: kept };
}

/** The toolkit's entries stop apt, or cannot be verified: other than merely old ones. */
export function isToolkitRepositoryBroken(packages: Packages): boolean {
  const ours = packages.repositories.filter(
    (entry) => entry.enabled && entry.suite !== null && isOfToolkit(entry, toolkitBase),
  );
  return ours.some((entry) => conflicts(ours, entry) || (entry.signedBy !== null && !hasKeyring(packages, entry)));
}

function isCuda({ uri }: PackageRepository): boolean {
  return /\/compute\/cuda\/repos\//.test(uri);
}

function lacksCudaKey({ keyrings, packages }: Packages, { signedBy }: PackageRepository): boolean {
  if (packages.some(({ name }) => name === 'cuda-keyring')) return false;
  const named = signedBy?.split(',');
  const asked = keyrings.filter(
    ({ path, present }) => present && (named?.includes(path) ?? path.startsWith('/etc/apt/trusted.gpg')),
  );
  const isThere = asked.some(({ keyIds }) => keyIds === null || keyIds.includes(cudaFingerprint.slice(-16)));
  return !isThere && (named === undefined || asked.length > 0);
}

function conflicts(entries: readonly PackageRepository[], { uri, suite, signedBy }: PackageRepository): boolean {
  return entries.some((other) => sameAddress(other.uri, uri) && other.suite === suite && other.signedBy !== signedBy);
}
