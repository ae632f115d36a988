import type { HostReader } from '../../host/index.ts';
import type { ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import type { Gap } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import { readConfigFile } from '../read-config-file.ts';
import type { ContainerdLayer } from './fact.ts';
import { matchesGlob } from './matches-glob.ts';
import { type ContainerdFile, parseContainerdFile, toLayer } from './parse-containerd-config.ts';

export interface ReadContainerdFiles {
  /** Root first, then imports in the order in which containerd reads them. */
  files: ConfigFile[];
  root: ContainerdFile | null;
  /** Parsed files in the same order; null when containerd could not read one of them, or we could not. */
  parsed: ContainerdFile[] | null;
  /** The readable ones, each as it stands. */
  layers: ContainerdLayer[];
  gaps: Gap[];
}

interface ReadOptions {
  declared: readonly string[];
  missingImportIsFatal: boolean;
  /** Before 1.7 a pattern that is not absolute counts from the daemon's working directory, which is the root. */
  globsFromRoot?: boolean;
}

/** More than any real host has; a loop of globs must end. */
const maxFiles = 64;

/** Follows `imports` as containerd does: breadth first, each file once, relative to the file that names it. */
export async function readContainerdFiles(
  context: ProbeContext,
  rootPath: string,
  { declared, missingImportIsFatal, globsFromRoot = false }: ReadOptions,
): Promise<ReadContainerdFiles> {
  const isDeclared = (path: string) => declared.some((pattern) => matchesPattern(pattern, path));
  const files: ConfigFile[] = [];
  const parsed: ContainerdFile[] = [];
  const layers: ContainerdLayer[] = [];
  const gaps: Gap[] = [];
  let whole = true;
  const pending = [rootPath];
  const seen = new Set<string>();
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    if (seen.has(path)) continue;
    seen.add(path);
    if (!isDeclared(path) || files.length >= maxFiles) {
      if (path === rootPath) files.push(notRead(path));
      gaps.push({ path: 'files', because: `import_not_read: ${path}` });
      whole = false;
      continue;
    }
    const read = await readConfigFile(context, path);
    files.push(read.file);
    if (read.gap) gaps.push({ path: 'files', because: `${read.gap.because}: ${path}` });
    if (read.text === null) {
      // No root file is fine; an import by exact name that is not there stops containerd 1.x.
      if (read.file.present || (path !== rootPath && missingImportIsFatal)) whole = false;
      if (path !== rootPath && !read.file.present) gaps.push({ path: 'files', because: `import_absent: ${path}` });
      continue;
    }
    const document = parseContainerdFile(read.text);
    if (document.value === null) {
      read.file.error = document.unreadable[0]?.because ?? null;
      whole = false;
      continue;
    }
    parsed.push(document.value);
    layers.push(toLayer(path, document.value, isBlank(read.text)));
    for (const pattern of document.value.imports) {
      const found = await expandImport(context.host, path, pattern, { globsFromRoot, isDeclared, gaps });
      if (found === null) whole = false;
      pending.push(...(found ?? []));
    }
  }
  const rootParsed = files[0]?.present === true && files[0].error === null ? (parsed[0] ?? null) : null;
  return { files, root: rootParsed, parsed: whole ? parsed : null, layers, gaps };
}

function notRead(path: string): ConfigFile {
  const error = 'not_read: outside the folders that are looked at';
  return { path, present: true, sha256: null, mode: null, mtimeMs: null, error };
}

/** Nothing but comments: containerd takes it for no settings, and a writer may choose its schema. */
function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#.*)?$/.test(line));
}

/** null: it leads where we do not look. Only a `*` makes containerd take an import for a pattern; `?` and `[a-z]` count beside one. */
async function expandImport(
  host: HostReader,
  from: string,
  pattern: string,
  options: { globsFromRoot: boolean; isDeclared: (path: string) => boolean; gaps: Gap[] },
): Promise<string[] | null> {
  const { globsFromRoot, isDeclared, gaps } = options;
  const isGlob = pattern.includes('*');
  const folder = isGlob && globsFromRoot ? '' : from.slice(0, from.lastIndexOf('/'));
  const whole = pattern.startsWith('/') ? pattern : `${folder}/${pattern}`;
  let found = [''];
  for (const segment of normalised(whole)) {
    if (!isGlob || !/[*?[\\]/.test(segment)) {
      found = found.map((parent) => `${parent}/${segment}`);
      continue;
    }
    const next: string[] = [];
    for (const parent of found) {
      if (!isDeclared(parent)) {
        gaps.push({ path: 'files', because: `import_not_read: ${whole}` });
        return null;
      }
      const listed = await host.listDir(parent === '' ? '/' : parent);
      if (!listed.ok && listed.because !== 'absent')
        gaps.push({ path: 'files', because: `${listed.because}: ${parent}` });
      if (listed.ok)
        next.push(
          ...listed.value.filter(({ name }) => matchesGlob(segment, name)).map(({ name }) => `${parent}/${name}`),
        );
    }
    found = next;
  }
  return found;
}

function normalised(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}
