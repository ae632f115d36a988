import {
  candidate,
  compareVersions,
  isAt,
  keptFolder,
  type PackageAt,
  type StepOf,
  upstream,
} from '@gpufleet/shared/jobs';
import type { ListedPackage } from '@gpufleet/shared/probes';
import { apt, finishDpkg } from './apt.ts';
import { dnf } from './dnf.ts';
import { done, type Executor, type Failure, failed, type StepContext, type StepOutcome } from './executor.ts';
import type { Answer, Change, Manager, PackageFile } from './package-manager.ts';

type SetPackages = StepOf<'set_packages'>;

export const managers: Record<SetPackages['manager'], Manager> = { apt, dnf };

export const setPackages: Executor<SetPackages> = {
  idempotent: true,
  async before(context, step) {
    const listed = await managers[step.manager].list(context);
    const names = step.from.map(({ name }) => name);
    const known = listed.ok ? listed.value.filter(({ name }) => names.includes(name)).map(({ name }) => name) : names;
    return { known };
  },
  async apply(context, step) {
    const manager = managers[step.manager];
    const now = await manager.list(context);
    if (!now.ok) return now;
    if (isAllAt(now.value, step.to)) return done;
    const unfinished = now.value.filter(({ name, state }) => isNamed(step, name) && isHalfDone(state));
    // Its own outcome does not count: what a way back puts in place may be what could not be configured.
    if (step.finishFirst && step.manager === 'apt' && unfinished.length > 0) await finishDpkg(context, step.timeoutMs);
    const change = await toChange(context, manager, step, now.value);
    if (!change.ok) return change;
    const objection = await whyNotThisChange(context, manager, step, change.value);
    if (objection) return objection;
    const ran = await manager.change(context, change.value, step.timeoutMs);
    if (!ran.ok && 'interrupted' in ran) return ran;
    return confirm(context, manager, step, ran);
  },
  async probe(context, step) {
    const listed = await managers[step.manager].list(context);
    if (!listed.ok) return 'unclear';
    if (isAllAt(listed.value, step.from)) return 'absent';
    return isAllAt(listed.value, step.to) ? 'present' : 'unclear';
  },
};

/** What the transaction would do beside what was asked: nothing of it could be put back. */
export async function whyNotThisChange(
  context: StepContext,
  manager: Manager,
  step: SetPackages,
  change: Change,
): Promise<Failure | null> {
  const foreseen = await manager.simulate(context, change);
  if (!foreseen.ok) return foreseen;
  const removes = foreseen.value.removes.filter(
    (name) => !step.to.some((one) => one.name === bare(name) && one.version === null),
  );
  if (removes.length > 0) return failed('would_remove', `it would also remove ${removes.slice(0, 20).join(', ')}`);
  const changes = foreseen.value.changes.filter((name) => !isNamed(step, bare(name)));
  if (changes.length > 0) return failed('would_change', `it would also change ${changes.slice(0, 20).join(', ')}`);
  return null;
}

/** How the manager is told, from files where the step names a folder. */
export async function toChange(
  context: StepContext,
  manager: Manager,
  step: SetPackages,
  now: readonly ListedPackage[],
): Promise<Answer<Change>> {
  const differing = step.to.filter((one) => !isThere(now, one));
  const wanted = differing.filter(({ version }) => version !== null);
  const remove = differing.filter(({ version }) => version === null).map(({ name }) => name);
  const files = step.folder === null ? [] : await manager.filesIn(context, step.folder);
  const install: string[] = [];
  const fromRepository: PackageAt[] = [];
  for (const one of wanted) {
    const file = fileOf(files, one);
    if (file) install.push(file.path);
    else fromRepository.push(one);
  }
  const [missing] = fromRepository;
  if (missing && step.folder !== null && step.folder !== keptFolder[step.manager])
    return failed('file_missing', `${step.folder} has no package ${missing.name} ${missing.version} for this host`);
  if (fromRepository.length > 0) {
    const resolved = await manager.resolve(context, fromRepository);
    if (!resolved.ok) return resolved;
    const odd = oddOneOut(fromRepository, resolved.value);
    if (odd) return odd;
    install.push(...fromRepository.map(({ name }) => resolved.value.get(name) ?? name));
  }
  return { ok: true, value: { install, remove, purge: step.purge } };
}

/** Several candidates of one family must be of one version. */
function oddOneOut(wanted: readonly PackageAt[], specs: ReadonlyMap<string, string>): Failure | null {
  const versions = wanted
    .filter(({ version }) => version === candidate)
    .flatMap(({ name }) => specs.get(name)?.split('=')[1] ?? [])
    .map(upstream);
  if (new Set(versions).size < 2) return null;
  return failed('versions_differ', `the repositories offer ${[...specs.values()].join(', ')}: not one version of all`);
}

function fileOf(files: readonly PackageFile[], { name, version }: PackageAt): PackageFile | undefined {
  return files
    .filter((file) => file.name === name && isAt(file, version))
    .sort((a, b) => compareVersions(b.version, a.version))[0];
}

async function confirm(
  context: StepContext,
  manager: Manager,
  step: SetPackages,
  ran: StepOutcome,
): Promise<StepOutcome> {
  const after = await manager.list(context);
  if (!after.ok) return after;
  if (isAllAt(after.value, step.to)) return done;
  if (!ran.ok) return ran;
  const wrong = step.to
    .filter((one) => !isThere(after.value, one))
    .map(({ name }) => {
      const found = after.value.find((one) => one.name === name);
      return `${name} is ${found ? `${found.version}, ${found.state}` : 'not installed'}`;
    });
  return failed('packages_not_set', wrong.join('; '));
}

function isAllAt(listed: readonly ListedPackage[], wanted: readonly PackageAt[]): boolean {
  return wanted.every((one) => isThere(listed, one));
}

/** Half-way is neither there nor away. */
function isThere(listed: readonly ListedPackage[], { name, version }: PackageAt): boolean {
  const found = listed.find((one) => one.name === name && !['not-installed', 'config-files'].includes(one.state));
  if (found && (found.state !== 'installed' || found.needsReinstall)) return false;
  return isAt(found, version);
}

function isHalfDone(state: string): boolean {
  return !['installed', 'config-files', 'not-installed'].includes(state);
}

/** `name:amd64` as apt names packages of several architectures. */
function bare(name: string): string {
  return name.replace(/:[a-z0-9-]+$/, '');
}

function isNamed(step: SetPackages, name: string): boolean {
  return step.to.some((one) => one.name === name);
}
