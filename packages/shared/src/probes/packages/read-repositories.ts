import type { Sha256 } from '../../core/index.ts';
import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { PackageRepository, PackagesFact } from './fact.ts';
import { parseDeb822, parseRepoFile, parseSourcesList } from './parse-apt-sources.ts';
import { parseKeyring } from './parse-keyring.ts';

const aptList = '/etc/apt/sources.list';
const folders = ['/etc/apt/sources.list.d', '/etc/yum.repos.d'] as const;
const trustedKeyring = '/etc/apt/trusted.gpg';
const trustedFolder = '/etc/apt/trusted.gpg.d';
/** Where installers put keyrings that an entry names; elsewhere only what apt trusts anyway is read. */
const keyringFolders = ['/usr/share/keyrings', '/etc/apt/keyrings'];

export const repositoryFiles = [
  aptList,
  ...folders,
  '/etc/apt/sources.list.d/*.list',
  '/etc/apt/sources.list.d/*.sources',
  '/etc/yum.repos.d/*.repo',
  trustedKeyring,
  trustedFolder,
  `${trustedFolder}/*`,
  ...keyringFolders.map((folder) => `${folder}/*`),
];

const maxFiles = 100;
const maxEntries = 300;
const maxBytes = 1_000_000;

export interface ReadRepositories {
  repositories: PackageRepository[];
  repositoryFiles: NonNullable<PackagesFact['repositoryFiles']>;
}

export async function readRepositories(host: HostReader, sha256: Sha256, gaps: Gap[]): Promise<ReadRepositories> {
  const paths = [aptList];
  for (const folder of folders) {
    const names = await namesIn(host, folder, 'repositories', gaps);
    paths.push(...names.filter((name) => /\.(list|sources|repo)$/.test(name)).map((name) => `${folder}/${name}`));
  }
  const found: PackageRepository[] = [];
  const repositoryFiles: ReadRepositories['repositoryFiles'] = [];
  for (const file of paths.slice(0, maxFiles)) {
    const read = await host.readText(file, { maxBytes });
    if (!read.ok) {
      if (read.because !== 'absent') gaps.push({ path: 'repositories', because: read.because });
      continue;
    }
    const parse = file.endsWith('.sources') ? parseDeb822 : file.endsWith('.repo') ? parseRepoFile : parseSourcesList;
    found.push(...parse(read.value).map((entry) => ({ file, ...entry })));
    repositoryFiles.push({ path: file, sha256: sha256(read.value) });
  }
  return { repositories: found.slice(0, maxEntries), repositoryFiles };
}

/** Keyrings that could vouch for NVIDIA's repositories: those that they name, and what apt trusts for all. */
export async function readKeyrings(
  host: HostReader,
  repositories: readonly PackageRepository[],
  gaps: Gap[],
): Promise<PackagesFact['keyrings']> {
  const nvidia = repositories.filter(({ isNvidia, suite }) => isNvidia && suite !== null);
  if (nvidia.length === 0) return [];
  const named = nvidia.flatMap(({ signedBy }) => signedBy?.split(',') ?? []);
  const trusted: string[] = [];
  if (nvidia.some(({ signedBy }) => signedBy === null)) {
    const names = await namesIn(host, trustedFolder, 'keyrings', gaps);
    trusted.push(
      trustedKeyring,
      ...names.filter((name) => /\.(gpg|asc)$/.test(name)).map((name) => `${trustedFolder}/${name}`),
    );
  }
  const paths = [...new Set([...named, ...trusted])].filter(isReadPlace);
  const keyrings: PackagesFact['keyrings'] = [];
  for (const path of paths.slice(0, maxFiles)) {
    const read = await host.readBytes(path, { maxBytes });
    if (!read.ok && read.because === 'absent') {
      if (named.includes(path)) keyrings.push({ path, present: false, keyIds: null });
      continue;
    }
    keyrings.push({ path, present: true, keyIds: read.ok ? parseKeyring(read.value) : null });
  }
  return keyrings;
}

/** A path elsewhere is not among what a probe may read; whether its key is there stays unknown. */
function isReadPlace(path: string): boolean {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return path === trustedKeyring || [trustedFolder, ...keyringFolders].includes(folder);
}

async function namesIn(host: HostReader, folder: string, field: string, gaps: Gap[]): Promise<string[]> {
  const listed = await host.listDir(folder);
  if (listed.ok) return listed.value.filter(({ type }) => type !== 'dir').map(({ name }) => name);
  if (listed.because !== 'absent') gaps.push({ path: field, because: listed.because });
  return [];
}
