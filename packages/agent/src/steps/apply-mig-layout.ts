import type { Clock } from '@gpufleet/shared/core';
import { type Step, stepTitle } from '@gpufleet/shared/jobs';
import type { BootGpu, Gpu, MigProfilesFact } from '@gpufleet/shared/probes';
import { collectFacts } from '../collector/collect-facts.ts';
import type { Host } from '../host/host.ts';
import { sha256 } from '../identity/key.ts';
import { type StepContext, sleep } from './executor.ts';
import { applyStep } from './index.ts';
import { readGpu } from './read-gpu.ts';

/** Early in a boot the driver may still be on its way. */
const driverWithinMs = 60_000;
const pollEveryMs = 2_000;

export interface AppliedLayout {
  done: string[];
  /** Of one GPU each: the others are laid out all the same. */
  problems: string[];
}

/** Gives the GPUs the modes and instances that the layout file keeps; what is right already stays. */
export async function applyMigLayout(host: Host, clock: Clock): Promise<AppliedLayout> {
  const context: StepContext = {
    host,
    clock,
    sha256,
    collectFacts: (only) => collectFacts({ host, sha256, only }),
    snapshot: undefined,
    readSnapshot: async () => undefined,
    pause: (ms) => sleep(clock, ms),
    isStopping: () => false,
    tell: () => undefined,
  };
  const boot = (await context.collectFacts(['mig_boot'])).mig_boot?.value;
  if (!boot?.layoutFile.present) return { done: [], problems: [] };
  if (!boot.layout)
    return { done: [], problems: [`${boot.layoutFile.path}: ${boot.layoutFile.error ?? 'unreadable'}`] };
  await waitForDriver(context);
  const applied: AppliedLayout = { done: [], problems: [] };
  for (const gpu of boot.layout.gpus) await applyTo(context, gpu, applied);
  return applied;
}

async function waitForDriver(context: StepContext): Promise<void> {
  const untilMs = context.clock.monotonicMs() + driverWithinMs;
  while (!(await context.collectFacts(['gpus'])).gpus?.value && context.clock.monotonicMs() < untilMs)
    await context.pause(pollEveryMs);
}

async function applyTo(context: StepContext, wanted: BootGpu, { done, problems }: AppliedLayout): Promise<void> {
  const gpu = await readGpu(context, wanted.uuid);
  if (!gpu || gpu.lost || gpu.mig.current === null)
    return void problems.push(`GPU ${wanted.uuid} does not answer, or has no MIG`);
  const to = wanted.enabled ? 'enabled' : 'disabled';
  const { uuid } = wanted;
  const mode: Step = { do: 'set_mig_mode', gpuUuid: uuid, from: gpu.mig.current, to, mayPend: true };
  const reset: Step = { do: 'reset_gpu', gpuUuids: [uuid], when: 'mig_pending' };
  const steps = [async () => mode, async () => reset, () => instancesStep(context, gpu, wanted)];
  for (const next of steps) {
    const step = await next();
    if (step === null) continue;
    if (typeof step === 'string') return void problems.push(step);
    const outcome = await applyStep(context, step);
    if (outcome.ok) done.push(stepTitle(step));
    else
      return void problems.push('because' in outcome ? outcome.because.detail : `${stepTitle(step)} was interrupted`);
  }
}

/** The file names profiles; their ids are the driver's own. */
async function instancesStep(context: StepContext, gpu: Gpu, wanted: BootGpu): Promise<Step | string | null> {
  if (!wanted.enabled || wanted.instances === null) return null;
  const profiles = (await context.collectFacts(['gpus', 'mig_profiles'])).mig_profiles?.value;
  const offers = offersOf(profiles, gpu.index);
  const to = wanted.instances.flatMap(({ profile, start }) => {
    const offer = offers.find(({ name }) => name === profile);
    return offer ? [{ profile, profileId: offer.id, start, computes: null }] : [];
  });
  if (to.length < wanted.instances.length) return `GPU ${wanted.uuid} no longer offers each profile of its layout`;
  return { do: 'set_mig_instances', gpuUuid: wanted.uuid, from: [], to, mustFind: false };
}

function offersOf(fact: MigProfilesFact | null | undefined, index: number) {
  return fact?.gpus.find((gpu) => gpu.index === index)?.profiles ?? [];
}
