import type { Ran } from '@gpufleet/shared/host';
import type { PackageAt } from '@gpufleet/shared/jobs';
import type { ListedPackage } from '@gpufleet/shared/probes';
import { type Failure, failed, interrupted, type StepContext, type StepOutcome } from './executor.ts';

/** What a host's package manager is asked for; its own words stay in its file. */
export interface Manager {
  /** Every package that it knows, or why it does not answer. */
  list(context: StepContext): Promise<Answer<ListedPackage[]>>;
  /** Files of packages in a folder, and of what they are. */
  filesIn(context: StepContext, folder: string): Promise<PackageFile[]>;
  /** How each wanted version is spelled for the manager here, or why one cannot be had. */
  resolve(context: StepContext, wanted: readonly PackageAt[]): Promise<Answer<Map<string, string>>>;
  /** What would change beside what is asked for. */
  simulate(context: StepContext, change: Change): Promise<Answer<Foreseen>>;
  change(context: StepContext, change: Change, timeoutMs: number): Promise<StepOutcome>;
  /** Downloads what is installed to the folder of kept packages. */
  keep(context: StepContext, packages: readonly PackageAt[], timeoutMs: number): Promise<StepOutcome>;
  reinstall(context: StepContext, packages: readonly PackageAt[], timeoutMs: number): Promise<StepOutcome>;
  refresh(context: StepContext, only: string | null, timeoutMs: number): Promise<StepOutcome>;
  hold(context: StepContext, names: readonly string[], held: boolean): Promise<StepOutcome>;
}

export type Answer<T> = { ok: true; value: T } | Failure;

export interface PackageFile {
  path: string;
  name: string;
  version: string;
}

export interface Change {
  /** Paths of files, and names with versions as `resolve` spells them. */
  install: readonly string[];
  remove: readonly string[];
  purge: boolean;
}

export interface Foreseen {
  removes: string[];
  /** Installed packages that would get another version. */
  changes: string[];
}

/** How long another package manager is waited for; unattended upgrades take minutes. */
const lockWaitMs = 10 * 60_000;
const lockPollMs = 10_000;

/** Runs a package manager without questions, and waits while another one holds the lock. */
export async function runManager(
  context: StepContext,
  argv: readonly string[],
  timeoutMs: number,
): Promise<Answer<Ran>> {
  const untilMs = context.clock.monotonicMs() + lockWaitMs;
  for (;;) {
    const ran = await context.host.run(argv, { timeoutMs, unattended: true });
    if (!ran.ok) return failed(`package_manager_${ran.because}`, ran.detail);
    if (ran.value.timedOut) return failed('timed_out', `${argv[0]} did not end in ${timeoutMs / 1_000} s`);
    const holder = lockHolder(`${ran.value.stdout}\n${ran.value.stderr}`);
    if (holder === null || ran.value.exitCode === 0) return { ok: true, value: ran.value };
    if (context.clock.monotonicMs() >= untilMs)
      return failed(
        'packages_busy',
        `${holder} has held the lock of the package manager for ${lockWaitMs / 60_000} min`,
      );
    context.tell(`waits for ${holder}, which holds the lock of the package manager`);
    await context.pause(lockPollMs);
    if (context.isStopping()) return interrupted;
  }
}

/** Who keeps the database of packages locked; null: nobody does. */
function lockHolder(said: string): string | null {
  if (!/Could not get lock|Unable to (?:acquire|lock)|lock (?:was|is) locked by another process/.test(said))
    return null;
  const held = /held by process (\d+) \(([^)\n]{1,40})\)/.exec(said);
  if (held) return `process ${held[1]} (${held[2]})`;
  const pid = /another process with pid (\d+)/.exec(said)?.[1];
  return pid === undefined ? 'another package manager' : `process ${pid}`;
}

const causes: readonly { pattern: RegExp; because: string }[] = [
  { pattern: /No space left on device|enough free space|needs? \d+\S* more space/i, because: 'no_space' },
  { pattern: /Conflicting values set for option|list of sources could not be read/, because: 'repository_conflict' },
  {
    pattern: /NO_PUBKEY|EXPKEYSIG|is not signed|GPG check FAILED|couldn't be verified|public key is not/i,
    because: 'repository_key',
  },
  { pattern: /is not valid yet|is expired|Release file .* expired/i, because: 'repository_not_valid' },
  {
    pattern: /Failed to fetch|Could not resolve|failure resolving|Could not connect|Cannot download|Curl error/i,
    because: 'repository_unreachable',
  },
  { pattern: /Held packages were changed/, because: 'packages_held' },
  {
    pattern:
      /Version '[^']*' for|Unable to locate package|No match for argument|has no installation candidate|Unable to find a match/,
    because: 'version_not_available',
  },
  { pattern: /dpkg was interrupted/, because: 'packages_interrupted' },
  { pattern: /unmet dependencies|held broken packages|Depsolve|conflicting requests/i, because: 'dependencies_unmet' },
];

/** Why a run went wrong, from what it says of errors. */
export function whyFailed(ran: Ran): Failure {
  const lines = `${ran.stderr}\n${ran.stdout}`.split('\n').map((line) => line.trim());
  const errors = lines.filter((line) => /^(?:E: |Error:|dpkg: error|W: (?:GPG error|Failed to fetch))/.test(line));
  const said = errors.length > 0 ? errors : lines.filter((line) => line !== '');
  const cause = causes.find(({ pattern }) => said.some((line) => pattern.test(line)));
  const line = said.find((one) => cause?.pattern.test(one)) ?? said[0];
  return failed(cause?.because ?? 'packages_failed', (line ?? `exit code ${ran.exitCode}`).slice(0, 300));
}
