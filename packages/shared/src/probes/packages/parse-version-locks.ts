import { parseToml } from '../parse-document.ts';
import { isTree, textAt } from '../values.ts';

/** dnf 4 and yum: one `epoch:name-version-release.arch` (or `name-epoch:version…`) a line; `!` forbids a version. */
export function parseVersionLockList(text: string): string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const entry = line.trim();
    if (entry === '' || /^[#!]/.test(entry)) return [];
    // The version is the last part but one that begins with a digit or is `*`.
    const name = /^(?:\d+:)?([A-Za-z][\w.+-]*?)-(?:\d+:)?[\d*]/.exec(entry)?.[1];
    return name === undefined ? [] : [name];
  });
}

/** dnf 5: `[[packages]]` tables with a name. */
export function parseVersionLockToml(text: string): string[] {
  const document = parseToml(text);
  if (!document.ok || !isTree(document.value)) return [];
  const { packages } = document.value;
  return Array.isArray(packages) ? packages.flatMap((entry) => textAt(entry, 'name') ?? []) : [];
}
