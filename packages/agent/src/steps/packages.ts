import { isAt, keptFolder, type PackageAt, type StepOf } from '@gpufleet/shared/jobs';
import { isBroken } from '@gpufleet/shared/probes';
import { finishDpkg } from './apt.ts';
import { done, type Executor, failed, type StepContext, type StepOutcome } from './executor.ts';
import { managers } from './set-packages.ts';

export const keepPackages: Executor<StepOf<'keep_packages'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const missing = await notKept(context, step);
    if (missing.length === 0) return done;
    const kept = await managers[step.manager].keep(context, missing, step.timeoutMs);
    if (!kept.ok && 'interrupted' in kept) return kept;
    // It ends with 0 where the repository does not have the version any more.
    const still = await notKept(context, step);
    if (still.length === 0) return done;
    const names = still.map(({ name, version }) => `${name} ${version}`).join(', ');
    const why = kept.ok ? 'the repositories do not have them any more' : kept.because.detail;
    return failed('way_back_missing', `${names} cannot be kept for a way back (withoutWayBack goes on): ${why}`);
  },
  probe: async (context, step) => ((await notKept(context, step)).length === 0 ? 'present' : 'absent'),
};

async function notKept(context: StepContext, step: StepOf<'keep_packages'>): Promise<PackageAt[]> {
  const files = await managers[step.manager].filesIn(context, keptFolder[step.manager]);
  return step.packages.filter(({ name, version }) => !files.some((file) => file.name === name && isAt(file, version)));
}

export const reinstallPackages: Executor<StepOf<'reinstall_packages'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const manager = managers[step.manager];
    const ran = await manager.reinstall(context, step.packages, step.timeoutMs);
    if (!ran.ok) return ran;
    const after = await manager.list(context);
    if (!after.ok) return after;
    const wrong = step.packages.find(({ name, version }) => {
      const found = after.value.find((one) => one.name === name);
      return found?.state !== 'installed' || !isAt(found, version);
    });
    return wrong ? failed('packages_not_set', `${wrong.name} is not properly installed`) : done;
  },
  /** The state is the same before and after: doing it twice does no harm. */
  probe: async () => 'absent',
};

export const refreshPackageLists: Executor<StepOf<'refresh_package_lists'>> = {
  idempotent: true,
  before: async () => null,
  apply: (context, step) => managers[step.manager].refresh(context, step.only, step.timeoutMs),
  probe: async () => 'absent',
};

export const holdPackages: Executor<StepOf<'hold_packages'>> = {
  idempotent: true,
  async before(context, step) {
    const held = await heldNow(context, step);
    return { held: held ?? [] };
  },
  async apply(context, step) {
    const ran = await managers[step.manager].hold(context, step.names, step.held);
    if (!ran.ok) return ran;
    const held = await heldNow(context, step);
    const wrong = step.names.filter((name) => held?.includes(name) !== step.held);
    if (wrong.length > 0) return failed('hold_not_set', `${wrong.join(', ')} is not ${step.held ? 'held' : 'let go'}`);
    return done;
  },
  async probe(context, step) {
    const held = await heldNow(context, step);
    if (held === null) return 'unclear';
    return step.names.every((name) => held.includes(name) === step.held) ? 'present' : 'absent';
  },
};

/** Of the step's names; dnf keeps its locks in files that the probe reads. */
async function heldNow(context: StepContext, step: StepOf<'hold_packages'>): Promise<string[] | null> {
  if (step.manager === 'apt') {
    const listed = await managers.apt.list(context);
    if (!listed.ok) return null;
    return listed.value.filter(({ name, held }) => held && step.names.includes(name)).map(({ name }) => name);
  }
  const packages = (await context.collectFacts(['packages'])).packages?.value;
  return (
    packages?.packages.filter(({ name, held }) => held && step.names.includes(name)).map(({ name }) => name) ?? null
  );
}

export const configurePackages: Executor<StepOf<'configure_packages'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const finished = await finishDpkg(context, step.timeoutMs);
    if (!finished.ok && 'interrupted' in finished) return finished;
    return isFinished(context, finished);
  },
  async probe(context) {
    return (await isFinished(context, done)).ok ? 'present' : 'absent';
  },
};

async function isFinished(context: StepContext, ran: StepOutcome): Promise<StepOutcome> {
  const listed = await managers.apt.list(context);
  if (!listed.ok) return listed;
  const broken = listed.value.filter(isBroken);
  const journal = await context.host.listDir('/var/lib/dpkg/updates');
  const isInterrupted = journal.ok && journal.value.some(({ name }) => /^\d+$/.test(name));
  if (broken.length === 0 && !isInterrupted) return done;
  if (!ran.ok) return ran;
  const names = broken.slice(0, 10).map(({ name, state }) => `${name} ${state}`);
  return failed('packages_broken', names.join(', ') || 'dpkg has not carried over its journal');
}
