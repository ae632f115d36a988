import type { StepOf } from '@gpufleet/shared/jobs';
import type { MigProfilesFact } from '@gpufleet/shared/probes';
import {
  done,
  type Executor,
  failed,
  firstLine,
  refused,
  type StepContext,
  type StepOutcome,
  type Trace,
} from './executor.ts';
import { askNvidiaSmi, reasonOf } from './nvidia-smi.ts';

const timeoutMs = 60_000;

type SetMigInstances = StepOf<'set_mig_instances'>;
type Wanted = SetMigInstances['to'][number];
type Present = NonNullable<MigProfilesFact['gpus'][number]['gpuInstances']>[number];

export const setMigInstances: Executor<SetMigInstances> = {
  idempotent: true,
  before: async (context, step) => (await readInstances(context, step))?.map(idOf) ?? null,
  async apply(context, step) {
    const present = await readInstances(context, step);
    if (present === null) return refused('gpu_not_found', `GPU ${step.gpuUuid} does not tell its instances`);
    // After a crash in the middle there may be some of both; what is of neither was made by somebody else.
    const isForeign = present.some((one) => ![...step.from, ...step.to].some((known) => isAt(one, known)));
    if (step.mustFind && isForeign)
      return refused('changed_since_plan', `GPU ${step.gpuUuid} has instances that the plan does not know`);
    const wrong = present.filter((one) => !step.to.some((wanted) => isSame(one, wanted)));
    for (const one of wrong) {
      const taken = await take(context, step, one);
      if (!taken.ok) return taken;
    }
    const left = wrong.length === 0 ? present : await readInstances(context, step);
    if (left === null || wrong.some(({ id }) => left.some((one) => one.id === id)))
      return failed('instances_differ', `GPU ${step.gpuUuid} still has instances that were destroyed`);
    const missing = step.to.filter((wanted) => !present.some((one) => isSame(one, wanted)));
    for (const wanted of missing) {
      const made = await make(context, step, wanted);
      if (!made.ok) return made;
    }
    return judge(await readInstances(context, step), step);
  },
  async probe(context, step): Promise<Trace> {
    const present = await readInstances(context, step);
    if (present === null) return 'unclear';
    return judge(present, step).ok ? 'present' : 'absent';
  },
};

/** Compute instances first: the driver keeps an instance that has some. */
async function take(context: StepContext, step: SetMigInstances, instance: Present): Promise<StepOutcome> {
  const gi = String(instance.id);
  for (const { id } of instance.computeInstances ?? []) {
    const taken = await ask(context, step, ['-gi', gi, '-ci', String(id), '-dci'], /^Successfully destroyed compute/m);
    if (!taken.ok) return taken;
  }
  return ask(context, step, ['-gi', gi, '-dgi'], /^Successfully destroyed GPU/m);
}

async function make(context: StepContext, step: SetMigInstances, wanted: Wanted): Promise<StepOutcome> {
  const place = `${wanted.profileId}:${wanted.start}`;
  const whole = wanted.computes === null ? ['-C'] : [];
  const made = await ask(context, step, ['-cgi', place, ...whole], /^Successfully created GPU instance/m);
  if (!made.ok || wanted.computes === null || wanted.computes.length === 0) return made;
  const instance = (await readInstances(context, step))?.find((one) => isAt(one, wanted));
  if (!instance)
    return failed('instance_not_there', `GPU ${step.gpuUuid} does not list ${wanted.profile} at ${wanted.start}`);
  const args = ['-gi', String(instance.id), '-cci', wanted.computes.join(',')];
  return ask(context, step, args, /^Successfully created compute/m);
}

async function ask(
  context: StepContext,
  step: SetMigInstances,
  args: readonly string[],
  success: RegExp,
): Promise<StepOutcome> {
  const said = await askNvidiaSmi(context, ['mig', '-i', step.gpuUuid, ...args], timeoutMs);
  if (!said.ok) return said;
  const refusal = said.text.split('\n').find((line) => /^(?:Unable|Failed|No |Insufficient)/.test(line));
  if (refusal === undefined && success.test(said.text)) return done;
  const text = refusal ?? said.text;
  return failed(reasonOf(text, 'instances_differ'), `GPU ${step.gpuUuid}: ${firstLine(text)}`);
}

/** nvidia-smi says what it did, and the driver what there is: the second counts. */
function judge(present: Present[] | null, step: SetMigInstances): StepOutcome {
  if (present === null) return failed('gpu_not_found', `GPU ${step.gpuUuid} does not tell its instances`);
  const isAsWanted =
    present.length === step.to.length && step.to.every((wanted) => present.some((one) => isSame(one, wanted)));
  if (isAsWanted) return done;
  const there = present.map(idOf).join(', ') || 'none';
  return failed('instances_differ', `GPU ${step.gpuUuid} has ${there}`);
}

function isAt(one: Present, { profileId, start }: Wanted): boolean {
  return one.profileId === profileId && one.start === start;
}

function isSame(one: Present, wanted: Wanted): boolean {
  if (!isAt(one, wanted)) return false;
  const computes = one.computeInstances ?? [];
  if (wanted.computes === null) return computes.length === 1 && computes[0]?.profile === one.profile;
  const ids = computes.map(({ profileId }) => profileId).sort();
  return ids.length === wanted.computes.length && [...wanted.computes].sort().every((id, at) => id === ids[at]);
}

function idOf({ profile, start, computeInstances }: Present): string {
  const computes = computeInstances?.map((one) => one.profile).join('+');
  return `${profile}@${start}${computes === profile ? '' : ` (${computes || 'empty'})`}`;
}

/** With MIG off there are none. */
async function readInstances(context: StepContext, step: SetMigInstances): Promise<Present[] | null> {
  const { gpus, mig_profiles } = await context.collectFacts(['gpus', 'mig_profiles']);
  const gpu = gpus?.value?.gpus.find(({ uuid }) => uuid === step.gpuUuid);
  if (!gpu || gpu.lost) return null;
  return mig_profiles?.value?.gpus.find(({ index }) => index === gpu.index)?.gpuInstances ?? null;
}
