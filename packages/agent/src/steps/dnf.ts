import { candidate, keptFolder, type PackageAt } from '@gpufleet/shared/jobs';
import { parseRpmList, rpmArgv } from '@gpufleet/shared/probes';
import { done, failed, type StepContext, type StepOutcome } from './executor.ts';
import {
  type Change,
  type Foreseen,
  type Manager,
  type PackageFile,
  runManager,
  whyFailed,
} from './package-manager.ts';

const askTimeoutMs = 120_000;
const fileFormat = '%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\n';
const mostFiles = 300;

/** dnf waits for its lock by itself, until the time limit. */
export const dnf: Manager = {
  async list({ host }) {
    const ran = await host.run(rpmArgv, { timeoutMs: askTimeoutMs });
    if (!ran.ok) return failed(`package_manager_${ran.because}`, ran.detail);
    const packages = parseRpmList(ran.value.stdout, () => false);
    return packages.length > 0 ? { ok: true, value: packages } : whyFailed(ran.value);
  },
  async filesIn(context, folder) {
    const listed = await context.host.listDir(folder);
    const names = (listed.ok ? listed.value : []).filter(({ name }) => name.endsWith('.rpm')).slice(0, mostFiles);
    const machine = await context.host.run(['uname', '-m'], { timeoutMs: askTimeoutMs });
    const own = machine.ok ? machine.value.stdout.trim() : '';
    const found: PackageFile[] = [];
    for (const { name: file } of names) {
      const path = `${folder}/${file}`;
      const ran = await context.host.run(['rpm', '-qp', '--nosignature', '--qf', fileFormat, path], {
        timeoutMs: askTimeoutMs,
      });
      if (!ran.ok || ran.value.exitCode !== 0) continue;
      const [name = '', version = '', arch = ''] = ran.value.stdout.trim().split('\t');
      if (arch === 'noarch' || arch === own) found.push({ path, name, version });
    }
    return found;
  },
  /** dnf takes a name with a version or its upstream part, and says itself when there is none. */
  async resolve(_context, wanted) {
    return { ok: true, value: new Map(wanted.map((one) => [one.name, spec(one)])) };
  },
  async simulate(context, change) {
    const ran = await runManager(context, ['dnf', ...changeArgs(change, '--assumeno')], askTimeoutMs);
    if (!ran.ok) return ran;
    // It ends with 1 when the answer is no; without a table of changes there was nothing to say no to.
    if (!/^(?:Transaction Summary|Nothing to do)/m.test(ran.value.stdout)) return whyFailed(ran.value);
    return { ok: true, value: parseTransaction(ran.value.stdout) };
  },
  async change(context, change, timeoutMs) {
    return ended(context, ['dnf', ...changeArgs(change, '-y')], timeoutMs);
  },
  async keep(context, packages, timeoutMs) {
    const argv = ['dnf', 'reinstall', '-y', '-q', '--downloadonly', '--downloaddir', keptFolder.dnf];
    return ended(context, [...argv, ...packages.map(spec)], timeoutMs);
  },
  async reinstall(context, packages, timeoutMs) {
    return ended(context, ['dnf', 'reinstall', '-y', '-q', ...packages.map(spec)], timeoutMs);
  },
  async refresh(context, _only, timeoutMs) {
    return ended(context, ['dnf', 'makecache', '-y', '-q', '--refresh'], timeoutMs);
  },
  async hold(context, names, held) {
    const ran = await runManager(context, ['dnf', 'versionlock', held ? 'add' : 'delete', ...names], askTimeoutMs);
    if (!ran.ok) return ran;
    if (/No such command|Unknown argument "versionlock"/.test(`${ran.value.stderr}${ran.value.stdout}`))
      return failed('versionlock_missing', 'dnf has no versionlock here: python3-dnf-plugin-versionlock brings it');
    return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
  },
};

async function ended(context: StepContext, argv: readonly string[], timeoutMs: number): Promise<StepOutcome> {
  const ran = await runManager(context, argv, timeoutMs);
  if (!ran.ok) return ran;
  return ran.value.exitCode === 0 ? done : whyFailed(ran.value);
}

function spec({ name, version }: PackageAt): string {
  return version === null || version === candidate ? name : `${name}-${version.replace(/^\d+:/, '')}`;
}

function changeArgs({ install, remove }: Change, answer: '-y' | '--assumeno'): string[] {
  // What came along with a package may be in use by something else by now.
  const only = '--setopt=clean_requirements_on_remove=False';
  if (install.length === 0) return ['remove', answer, only, ...remove];
  return ['install', answer, '--setopt=install_weak_deps=False', ...install];
}

const removing = /^Removing\b/;
const changing = /^(?:Upgrading|Downgrading)\b/;

/** Rows below headings like `Removing dependent packages:`, as dnf 4 and 5 print them. */
export function parseTransaction(text: string): Foreseen {
  const foreseen: Foreseen = { removes: [], changes: [] };
  let heading = '';
  for (const line of text.split('\n')) {
    if (/^[A-Z][a-z ]+:\s*$/.test(line)) heading = line;
    else if (/^Transaction Summary/.test(line)) break;
    const name = /^ ([\w.+-]+)\s+\S+\s+\S+/.exec(line)?.[1];
    if (name === undefined) continue;
    if (removing.test(heading)) foreseen.removes.push(name);
    else if (changing.test(heading)) foreseen.changes.push(name);
  }
  return foreseen;
}
