import { candidate, compareVersions, isAt, keptFolder, type PackageAt } from '@gpufleet/shared/jobs';
import { dpkgQueryArgv, type ListedPackage, parseDpkgQuery } from '@gpufleet/shared/probes';
import { done, failed, type StepContext } from './executor.ts';
import { type Answer, type Change, type Foreseen, type Manager, runManager, whyFailed } from './package-manager.ts';

const askTimeoutMs = 60_000;

/** No questions, no colours, the settings of the host kept, and a short wait for the lock (the rest is waited for outside). */
const options = [
  'DPkg::Lock::Timeout=20',
  'Dpkg::Use-Pty=0',
  'Dpkg::Options::=--force-confdef',
  'Dpkg::Options::=--force-confold',
].flatMap((option) => ['-o', option]);

export const apt: Manager = {
  async list({ host }) {
    const ran = await host.run(dpkgQueryArgv, { timeoutMs: askTimeoutMs });
    if (!ran.ok) return failed(`package_manager_${ran.because}`, ran.detail);
    const packages = parseDpkgQuery(ran.value.stdout);
    return packages.length > 0 ? { ok: true, value: packages } : whyFailed(ran.value);
  },
  async filesIn(context, folder) {
    const listed = await context.host.listDir(folder);
    const names = (listed.ok ? listed.value : []).filter(({ name }) => name.endsWith('.deb')).slice(0, mostFiles);
    const own = await ownArch(context);
    const found = [];
    for (const { name } of names) {
      const path = `${folder}/${name}`;
      const ran = await context.host.run(['dpkg-deb', '-f', path, 'Package', 'Version', 'Architecture'], {
        timeoutMs: askTimeoutMs,
      });
      if (!ran.ok || ran.value.exitCode !== 0) continue;
      const field = (key: string) => new RegExp(`^${key}: (\\S+)$`, 'm').exec(ran.value.stdout)?.[1] ?? '';
      const arch = field('Architecture');
      if (arch === 'all' || own === null || arch === own)
        found.push({ path, name: field('Package'), version: field('Version') });
    }
    return found;
  },
  async resolve(context, wanted) {
    const offered = await madison(
      context,
      wanted.map(({ name }) => name),
    );
    const candidates = wanted.some(({ version }) => version === candidate)
      ? await policy(
          context,
          wanted.map(({ name }) => name),
        )
      : new Map<string, string>();
    if (!offered.ok) return offered;
    const specs = new Map<string, string>();
    for (const { name, version } of wanted) {
      const versions = offered.value.get(name) ?? [];
      const found =
        version === candidate ? candidates.get(name) : versions.find((one) => isAt({ version: one }, version));
      if (found === undefined) {
        const has = versions.length === 0 ? 'no version of it' : versions.slice(0, 5).join(', ');
        return failed('version_not_available', `${name} ${version}: the repositories offer ${has}`);
      }
      specs.set(name, `${name}=${found}`);
    }
    return { ok: true, value: specs };
  },
  async simulate(context, change) {
    const ran = await runManager(context, ['apt-get', '-s', ...options, ...changeArgs(change)], askTimeoutMs);
    if (!ran.ok) return ran;
    if (ran.value.exitCode !== 0) return whyFailed(ran.value);
    return { ok: true, value: parseSimulation(ran.value.stdout) };
  },
  async change(context, change, timeoutMs) {
    const ran = await runManager(context, ['apt-get', ...options, ...changeArgs(change)], timeoutMs);
    if (!ran.ok) return ran;
    return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
  },
  async keep(context, packages, timeoutMs) {
    // Relative to apt's own cache: where it makes folders by itself.
    const folder = ['-o', `Dir::Cache::archives=${keptFolder.apt.replace(/^.*\//, '')}/`];
    const argv = ['apt-get', ...options, ...folder, 'install', '-y', '-q', '--download-only', '--reinstall'];
    const ran = await runManager(context, [...argv, '--allow-downgrades', ...packages.map(spec)], timeoutMs);
    if (!ran.ok) return ran;
    return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
  },
  async reinstall(context, packages, timeoutMs) {
    const argv = ['apt-get', ...options, 'install', '-y', '-q', '--reinstall', ...packages.map(spec)];
    const ran = await runManager(context, argv, timeoutMs);
    if (!ran.ok) return ran;
    const impossible = /Reinstallation of (\S+) is not possible/.exec(ran.value.stdout)?.[1];
    if (impossible !== undefined) return failed('version_not_available', `${impossible} cannot be downloaded any more`);
    return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
  },
  async refresh(context, only, timeoutMs) {
    const one =
      only === null
        ? []
        : [`Dir::Etc::sourcelist=${only}`, 'Dir::Etc::sourceparts=/dev/null', 'APT::Get::List-Cleanup=0'];
    // Else it ends with 0 although a list could not be fetched.
    const strict = [...one, 'APT::Update::Error-Mode=any'].flatMap((option) => ['-o', option]);
    const ran = await runManager(context, ['apt-get', ...options, ...strict, 'update', '-q'], timeoutMs);
    if (!ran.ok) return ran;
    const { exitCode, stderr } = ran.value;
    // An apt that is too old for the mode above warns.
    const failedToFetch = /^[EW]: (?:Failed to fetch|GPG error|Some index files failed)/m.test(stderr);
    return exitCode === 0 && !failedToFetch ? done : whyFailed(ran.value);
  },
  async hold(context, names, held) {
    const ran = await runManager(context, ['apt-mark', held ? 'hold' : 'unhold', ...names], askTimeoutMs);
    if (!ran.ok) return ran;
    return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
  },
};

const mostFiles = 300;

function spec({ name, version }: PackageAt): string {
  return version === null ? name : `${name}=${version}`;
}

function changeArgs({ install, remove, purge }: Change): string[] {
  if (install.length === 0) return [purge ? 'purge' : 'remove', '-y', '-q', ...remove];
  // A name with a minus is removed in the same transaction. Holds are not overridden: the plan lifts its own.
  return [
    'install',
    '-y',
    '-q',
    '--no-install-recommends',
    '--allow-downgrades',
    ...install,
    ...remove.map((name) => `${name}-`),
  ];
}

/** Lines like `Inst name [old] (new …)`, `Remv name [old]` and `Purg name [old]`. */
function parseSimulation(text: string): Foreseen {
  const foreseen: Foreseen = { removes: [], changes: [] };
  for (const line of text.split('\n')) {
    const gone = /^(?:Remv|Purg) (\S+)/.exec(line)?.[1];
    if (gone !== undefined) foreseen.removes.push(gone);
    const changed = /^Inst (\S+) \[/.exec(line)?.[1];
    if (changed !== undefined) foreseen.changes.push(changed);
  }
  return foreseen;
}

/** Versions that the repositories offer, newest first: rows like ` name | version | source`. */
async function madison({ host }: StepContext, names: readonly string[]): Promise<Answer<Map<string, string[]>>> {
  const ran = await host.run(['apt-cache', 'madison', ...names], { timeoutMs: askTimeoutMs });
  if (!ran.ok) return failed(`package_manager_${ran.because}`, ran.detail);
  const offered = new Map<string, string[]>();
  for (const line of ran.value.stdout.split('\n')) {
    const [name = '', version = ''] = line.split('|').map((cell) => cell.trim());
    if (version !== '') offered.set(name, [...(offered.get(name) ?? []), version]);
  }
  for (const versions of offered.values()) versions.sort((a, b) => compareVersions(b, a));
  return { ok: true, value: offered };
}

/** What apt would install without being told a version. */
async function policy({ host }: StepContext, names: readonly string[]): Promise<Map<string, string>> {
  const ran = await host.run(['apt-cache', 'policy', ...names], { timeoutMs: askTimeoutMs });
  const found = new Map<string, string>();
  let name = '';
  for (const line of ran.ok ? ran.value.stdout.split('\n') : []) {
    name = /^(\S+):$/.exec(line)?.[1] ?? name;
    const version = /^ {2}Candidate: (\S+)$/.exec(line)?.[1];
    if (version !== undefined && version !== '(none)') found.set(name, version);
  }
  return found;
}

/** The architecture of this system, as one of its own packages has it. */
async function ownArch(context: StepContext): Promise<string | null> {
  const listed: Answer<ListedPackage[]> = await apt.list(context);
  const own = listed.ok ? listed.value.find(({ name }) => name === 'dpkg' || name === 'base-files') : undefined;
  return own?.arch ?? null;
}

/** Finishes what an interrupted run left; whether that was enough the states tell. */
export async function finishDpkg(context: StepContext, timeoutMs: number) {
  const ran = await runManager(context, ['dpkg', '--force-confdef', '--force-confold', '--configure', '-a'], timeoutMs);
  if (!ran.ok) return ran;
  const mended = await runManager(
    context,
    ['apt-get', ...options, 'install', '-f', '-y', '-q', '--no-remove'],
    timeoutMs,
  );
  if (!mended.ok) return mended;
  return mended.value.exitCode === 0 ? done : whyFailed(mended.value);
}
