import type { HostReader } from '../../host/index.ts';
import type { ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import type { Gap } from '../parsed.ts';
import { matchesPattern, matchesSegment } from '../path-pattern.ts';
import { readConfigFile } from '../read-config-file.ts';
import type { ContainerdLayer } from './fact.ts';
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

/** More than any real host has; a loop of globs must end. */
const maxFiles = 64;

/** Follows `imports` as containerd does: breadth first, each file once, relative to the file that names it. */
export async function readContainerdFiles(
  context: ProbeContext,
  rootPath: string,
  { declared, missingImportIsFatal }: { declared: readonly string[]; missingImportIsFatal: boolean },
): Promise<ReadContainerdFiles> {
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
    if (!declared.some((pattern) => matchesPattern(pattern, path)) || files.length >= maxFiles) {
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
    gaps.push(
      ...document.unreadable.map(({ path: part, because }) => ({ path: 'files', because: `${because}: ${part}` })),
    );
    parsed.push(document.value);
    layers.push(toLayer(path, document.value, isBlank(read.text)));
    for (const pattern of document.value.imports)
      pending.push(...(await expandImport(context.host, path, pattern, gaps)));
  }
  const rootParsed = files[0]?.present === true && files[0].error === null ? (parsed[0] ?? null) : null;
  return { files, root: rootParsed, parsed: whole ? parsed : null, layers, gaps };
}

/** Nothing but comments: containerd takes it for no settings, and a writer may choose its schema. */
function isBlank(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#.*)?$/.test(line));
}

async function expandImport(host: HostReader, from: string, pattern: string, gaps: Gap[]): Promise<string[]> {
  const whole = pattern.startsWith('/') ? pattern : `${from.slice(0, from.lastIndexOf('/'))}/${pattern}`;
  let found = [''];
  for (const segment of whole.split('/').filter((part) => part !== '' && part !== '.')) {
    if (!segment.includes('*')) {
      found = found.map((parent) => `${parent}/${segment}`);
      continue;
    }
    const next: string[] = [];
    for (const parent of found) {
      const listed = await host.listDir(parent === '' ? '/' : parent);
      if (!listed.ok && listed.because !== 'absent')
        gaps.push({ path: 'files', because: `${listed.because}: ${parent}` });
      if (listed.ok)
        next.push(
          ...listed.value.filter(({ name }) => matchesSegment(segment, name)).map(({ name }) => `${parent}/${name}`),
        );
    }
    found = next;
  }
  return found;
}
