import type { PackageRepository } from './fact.ts';

type Entry = Omit<PackageRepository, 'file'>;

/** `deb [signed-by=/path arch=amd64] https://… suite component`, as in sources.list and *.list. */
export function parseSourcesList(text: string): Entry[] {
  return linesOf(text).flatMap(({ content, line }) => {
    const match = /^deb(?:-src)?\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)/.exec(content.trim());
    if (!match) return [];
    const [, options = '', uri = '', suite = ''] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1] ?? null;
    return [toEntry({ line, uri, suite, enabled: true, signedBy })];
  });
}

/** Stanzas of `Field: value` with folded lines, as in *.sources. Every address and every suite is an entry. */
export function parseDeb822(text: string): Entry[] {
  return stanzasOf(text).flatMap(({ line, fields }) => {
    const words = (name: string) => (fields.get(name) ?? '').split(/\s+/).filter((word) => word !== '');
    const enabled = !/^(no|false|off|0)$/i.test(fields.get('enabled')?.trim() ?? 'yes');
    const key = fields.get('signed-by')?.trim() ?? '';
    const signedBy = /BEGIN PGP/.test(key) ? 'inline' : key.split(/[\s,]+/).join(',') || null;
    return words('uris').flatMap((uri) =>
      words('suites').map((suite) => toEntry({ line, uri, suite, enabled, signedBy })),
    );
  });
}

/** An INI section for each repository, as in /etc/yum.repos.d/*.repo. A section without an address is none. */
export function parseRepoFile(text: string): Entry[] {
  const entries: Entry[] = [];
  let section: { line: number; keys: Map<string, string> } | null = null;
  const close = () => {
    const uri = section?.keys.get('baseurl') ?? section?.keys.get('metalink') ?? section?.keys.get('mirrorlist');
    if (section === null || uri === undefined) return;
    const enabled = !/^(0|no|false|off)$/i.test(section.keys.get('enabled') ?? '1');
    const [address = ''] = uri.split(/[\s,]+/);
    entries.push({
      ...toEntry({
        line: section.line,
        uri: address,
        suite: '',
        enabled,
        signedBy: section.keys.get('gpgkey') ?? null,
      }),
      suite: null,
    });
  };
  for (const { content, line } of linesOf(text)) {
    if (/^\s*\[[^\]]*\]/.test(content)) {
      close();
      section = { line, keys: new Map() };
      continue;
    }
    const match = /^([A-Za-z_]+)\s*=\s*(.*)$/.exec(content.trim());
    if (match && section) section.keys.set((match[1] ?? '').toLowerCase(), (match[2] ?? '').trim());
  }
  close();
  return entries;
}

/** Hosts of NVIDIA's own repositories; a mirror has a name of its own. */
export function isNvidiaUri(uri: string): boolean {
  const host = /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]+)/i.exec(uri)?.[1]?.toLowerCase() ?? '';
  return host === 'nvidia.github.io' || /(?:^|\.)nvidia\.(?:com|cn)$/.test(host);
}

function toEntry(given: Omit<Entry, 'isNvidia'>): Entry {
  const uri = given.uri.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1');
  return { ...given, uri, isNvidia: isNvidiaUri(uri) };
}

function linesOf(text: string): { content: string; line: number }[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((content, at) => ({ content, line: at + 1 }));
}

function stanzasOf(text: string): { line: number; fields: Map<string, string> }[] {
  const stanzas: { line: number; fields: Map<string, string> }[] = [];
  let current: { line: number; fields: Map<string, string> } | null = null;
  let field = '';
  for (const { content, line } of linesOf(text)) {
    if (content.startsWith('#')) continue;
    if (content.trim() === '') {
      current = null;
      continue;
    }
    if (/^\s/.test(content)) {
      current?.fields.set(field, `${current.fields.get(field) ?? ''}\n${content.trim()}`);
      continue;
    }
    const match = /^([\w-]+):(.*)$/.exec(content);
    if (!match) continue;
    if (current === null) {
      current = { line, fields: new Map() };
      stanzas.push(current);
    }
    field = (match[1] ?? '').toLowerCase();
    current.fields.set(field, (match[2] ?? '').trim());
  }
  return stanzas;
}
