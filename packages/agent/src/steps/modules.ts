import type { StepOf } from '@gpufleet/shared/jobs';
import { done, type Executor, failed, firstLine, type StepContext, type StepOutcome, type Trace } from './executor.ts';

type Module = StepOf<'build_module' | 'unbuild_module'>;

export const buildModule: Executor<StepOf<'build_module'>> = {
  idempotent: true,
  before: (context, step) => isBuilt(context, step),
  async apply(context, step) {
    const ran = await dkms(context, step, 'install');
    if ((await isBuilt(context, step)) === 'present') return done;
    return ran.ok ? failed('module_not_built', `dkms says that it built ${step.name}, and it is not there`) : ran;
  },
  probe: isBuilt,
};

export const unbuildModule: Executor<StepOf<'unbuild_module'>> = {
  idempotent: true,
  before: async () => null,
  async apply(context, step) {
    const ran = await dkms(context, step, 'unbuild');
    if ((await isBuilt(context, step)) === 'absent') return done;
    return ran.ok ? failed('module_still_built', `${step.name} is still there for ${step.kernel}`) : ran;
  },
  async probe(context, step) {
    const trace = await isBuilt(context, step);
    if (trace === 'unclear') return trace;
    return trace === 'present' ? 'absent' : 'present';
  },
};

async function dkms({ host }: StepContext, step: Module, verb: 'install' | 'unbuild'): Promise<StepOutcome> {
  const argv = ['dkms', verb, `${step.name}/${step.version}`, '-k', step.kernel];
  const ran = await host.run(argv, { timeoutMs: step.timeoutMs, unattended: true });
  if (!ran.ok) return failed(`dkms_${ran.because}`, ran.detail);
  if (ran.value.timedOut) return failed('timed_out', `dkms did not end in ${step.timeoutMs / 1_000} s`);
  if (ran.value.exitCode === 0) return done;
  const text = `${ran.value.stderr}\n${ran.value.stdout}`;
  const error = text.split('\n').find((line) => /error|headers/i.test(line));
  return failed('module_not_built', (error ?? firstLine(text)) || `dkms ended with ${ran.value.exitCode}`);
}

/** By the files that DKMS and the kernel look at, not by what a program says. */
async function isBuilt({ collectFacts }: StepContext, step: Module): Promise<Trace> {
  const driver = (await collectFacts(['driver'])).driver?.value;
  if (!driver) return 'unclear';
  const entry = driver.dkms.some(
    ({ name, version, kernel, state }) =>
      name === step.name && version === step.version && kernel === step.kernel && state === 'installed',
  );
  return entry ? 'present' : 'absent';
}
