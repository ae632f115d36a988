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
  { isOnlyOne, replaced }: { isOnlyOne: boolean; replaced: boolean },
  path: string,
  gaps: Gap[],
): Promise<string | null> {
  const why = replaced ? 'program_was_replaced' : binaries.includes(binary) ? null : 'program_elsewhere';
  if (why !== null) {
    gaps.push({ path, because: why });
    return null;
  }
  const said = await runCommand(host, isOnlyOne ? byName : byPath(binary));
  const version = said.ok ? parseContainerdVersion(said.text) : null;
  if (version === null) gaps.push({ path, because: said.ok ? 'unexpected_text' : said.because });
  return version;
}
