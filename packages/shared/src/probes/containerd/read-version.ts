import type { ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { runCommand } from '../run-command.ts';
import { parseContainerdVersion } from './parse-cri-info.ts';
import { binaries } from './places.ts';

const byName = ['containerd', '--version'] as const;
const byPath = (path: string) => [path, '--version'] as const;

/** Only programs in folders of the system are started: a process may run anything that calls itself containerd. */
export const versionCommands = [byName, ...binaries.map(byPath)].map((argv) => ({ argv, required: false }));

/**
 * What a program says of its version. Its name is enough where it is the only one; else its path: which of them a name
 * means depends on who asks.
 */
export async function readVersion(
  { host }: ProbeContext,
  binary: string,
  isOnlyOne: boolean,
  gaps: Gap[],
): Promise<string | null> {
  if (!binaries.includes(binary)) {
    gaps.push({ path: 'version', because: 'program_elsewhere' });
    return null;
  }
  const said = await runCommand(host, isOnlyOne ? byName : byPath(binary));
  const version = said.ok ? parseContainerdVersion(said.text) : null;
  if (version === null) gaps.push({ path: 'version', because: said.ok ? 'unexpected_text' : said.because });
  return version;
}
