export interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  workspaces?: string[];
  engines?: Record<string, string>;
  overrides?: Record<string, string>;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

export interface LockEntry extends Partial<Manifest> {
  resolved?: string;
  integrity?: string;
  link?: boolean;
}

export interface LockFile {
  lockfileVersion: number;
  packages: Record<string, LockEntry>;
}

const compared = ['name', 'version', 'workspaces', 'engines', 'dependencies', 'devDependencies'] as const;

/** What is wrong with a lock file, in words. `manifests`: folder ('' for the root) → its package.json. */
export function judgeLock(lock: LockFile, manifests: Record<string, Manifest>): string[] {
  return [
    ...Object.entries(manifests).flatMap(([folder, manifest]) => judgeManifest(lock, folder, manifest)),
    ...Object.entries(lock.packages).flatMap(([path, entry]) =>
      path.startsWith('node_modules/') && !entry.link ? judgeEntry(path, entry) : [],
    ),
  ];
}

function judgeManifest(lock: LockFile, folder: string, manifest: Manifest): string[] {
  const where = folder === '' ? 'package.json' : `${folder}/package.json`;
  const locked = lock.packages[folder];
  if (locked === undefined) return [`${where} is not in the lock file`];
  const problems = compared
    .filter((key) => sorted(locked[key]) !== sorted(manifest[key]))
    .map((key) => `${where}: ${key} is not what the lock file was made from`);
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries({ ...wanted, ...manifest.overrides })) {
    if (!/^\d+\.\d+\.\d+$/.test(version)) problems.push(`${where}: ${name} ${version} is not exact`);
    const entry = lock.packages[`${folder}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
    const found = entry?.link ? lock.packages[entry.resolved ?? '']?.version : entry?.version;
    if (found !== version) problems.push(`${where}: ${name} ${version} is locked as ${found}`);
  }
  return problems;
}

/** From the registry that npm is told, so without an address of its own; checked by its hash. */
function judgeEntry(path: string, { resolved, integrity }: LockEntry): string[] {
  const problems: string[] = [];
  if (resolved !== undefined) problems.push(`${path} comes from ${resolved}`);
  if (!integrity?.startsWith('sha512-')) problems.push(`${path} has no SHA-512`);
  return problems;
}

function sorted(value: unknown): string {
  const entries = value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : value;
  return JSON.stringify(Array.isArray(entries) ? [...entries].sort() : (entries ?? null));
}
