import type { ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import type { UnmatchedFile } from './fact.ts';
import { asWritten, parseContainerdFile } from './parse-containerd-config.ts';
import { defaultConfig } from './places.ts';

/** More than any real host has. */
const maxFiles = 64;

/** Files with runtimes in the folders of the configuration that it does not read: drop-ins without an import, and other roots. */
export async function readUnmatched(
  context: ProbeContext,
  read: readonly ConfigFile[],
  gaps: Gap[],
): Promise<UnmatchedFile[]> {
  const known = new Set(read.map(({ path }) => path));
  const folder = defaultConfig.slice(0, defaultConfig.lastIndexOf('/'));
  const found: UnmatchedFile[] = [];
  for (const path of await tomlFilesBelow(context, folder, gaps)) {
    if (known.has(path)) continue;
    const { file, text } = await readConfigFile(context, path);
    const parsed = text === null ? null : parseContainerdFile(text).value;
    if (parsed === null) continue;
    const { runtimes, defaultRuntime } = asWritten(parsed);
    if (runtimes.length > 0 || defaultRuntime !== null)
      found.push({ file, version: parsed.version, runtimes, defaultRuntime });
  }
  return found;
}

/** One folder down; the folders of registries hold other things of the same ending. */
async function tomlFilesBelow({ host }: ProbeContext, folder: string, gaps: Gap[]): Promise<string[]> {
  const listed = await host.listDir(folder);
  if (!listed.ok) {
    if (listed.because !== 'absent') gaps.push({ path: 'unmatched', because: `${listed.because}: ${folder}` });
    return [];
  }
  const found: string[] = [];
  for (const { name, type } of listed.value) {
    const path = `${folder}/${name}`;
    if (type !== 'dir') found.push(path);
    else if (!name.startsWith('cert')) {
      const inner = await host.listDir(path);
      if (inner.ok)
        found.push(...inner.value.filter((entry) => entry.type !== 'dir').map((entry) => `${path}/${entry.name}`));
      else gaps.push({ path: 'unmatched', because: `${inner.because}: ${path}` });
    }
  }
  return found.filter((path) => path.endsWith('.toml')).slice(0, maxFiles);
}
