import { addInstance, type MigInstance, type SimulatedGpu } from '../gpus/gpu.ts';
import { isHeld } from '../gpus/holds.ts';
import { freeStart, isFree, type MigOffer, migOffers, placedInstances } from '../gpus/mig-offers.ts';
import { computeProfileId, slicesOfCompute } from '../gpus/mig-tables.ts';
import { migProfile } from '../gpus/models.ts';
import { generationOf } from '../gpus/smi-xml.ts';
import { type Machine, nowMs } from '../machine.ts';
import { type Answer, printed } from './program.ts';

interface Asked {
  gpu: SimulatedGpu;
  gi: number | null;
  ci: number | null;
}

const verbs = ['-cgi', '-cci', '-dgi', '-dci'] as const;

/** `nvidia-smi mig -i GPU [-gi ID] [-ci ID] -cgi PLACES [-C] | -cci PROFILES | -dci | -dgi`. */
export function migChange(machine: Machine, args: readonly string[]): Answer | undefined {
  const verb = verbs.find((one) => args.includes(one));
  if (verb === undefined) return undefined;
  const optionOf = (option: string) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined);
  const gpu = machine.gpus.find((one) => [one.uuid, one.busId, String(one.minor)].includes(optionOf('-i') ?? ''));
  if (!gpu) return printed('No devices were found\n', 6);
  if (gpu.mig.current === 'disabled' || gpu.mig.pending === 'disabled')
    return printed('No MIG-enabled devices found.\n', generationOf(machine.driver?.library ?? '') < 550 ? 6 : 0);
  const number = (text: string | undefined) => (text === undefined ? null : Number(text));
  const asked: Asked = { gpu, gi: number(optionOf('-gi')), ci: number(optionOf('-ci')) };
  if (verb === '-cgi') return createInstances(machine, asked, (optionOf('-cgi') ?? '').split(','), args.includes('-C'));
  if (verb === '-cci') return createComputes(machine, asked, (optionOf('-cci') ?? '').split(','));
  return verb === '-dci' ? destroyComputes(machine, asked) : destroyInstances(machine, asked);
}

const two = (id: number) => String(id).padStart(2);

/** Those of the list that were made before the one that fails stay. */
function createInstances(machine: Machine, { gpu }: Asked, places: string[], whole: boolean): Answer {
  let said = '';
  for (const place of places) {
    const [name = '', at] = place.split(':');
    const offer = migOffers(gpu).find((one) => one.name === name.replace(/^MIG /, '') || String(one.id) === name);
    const start = offer && placeOf(gpu, offer, at);
    const failed = whyNot(machine, offer, start);
    if (failed || !offer || start === undefined) {
      const [words, code] = failed ?? ['Unknown Error', 255];
      return printed(
        `${said}Unable to create a GPU instance on GPU ${two(gpu.minor)} using profile ${place}: ${words}\nFailed to create GPU instances: ${words}\n`,
        code,
      );
    }
    const pretends = machine.smiChanges === 'pretended';
    const uuids = whole ? [uuidFor(machine, gpu)] : [];
    const target = pretends ? { ...gpu, mig: { ...gpu.mig, instances: [...gpu.mig.instances] } } : gpu;
    const instance = addInstance(target, offer.name, start, uuids);
    noted(machine, gpu, `+${offer.name}@${start}`, !pretends);
    said += `Successfully created GPU instance ID ${two(instance.gpuInstanceId)} on GPU ${two(gpu.minor)} using profile MIG ${offer.name} (ID ${two(offer.id)})\n`;
    if (whole) said += computeMade(gpu, instance, 0, offer.slices);
  }
  return printed(said);
}

function placeOf(gpu: SimulatedGpu, offer: MigOffer, at: string | undefined): number | undefined {
  const placed = placedInstances(gpu);
  if (freeStart(placed, offer) === undefined) return undefined;
  if (at === undefined) return freeStart(placed, offer);
  const start = Number(at);
  return offer.starts.includes(start) && isFree(placed, start, offer.size) ? start : undefined;
}

function whyNot(
  machine: Machine,
  offer: MigOffer | undefined,
  start: number | undefined,
): [words: string, code: number] | undefined {
  if (offer === undefined) return ['Invalid Argument', 2];
  if (machine.smiChanges === 'denied') return ['Insufficient Permissions', 4];
  return start === undefined ? ['Insufficient Resources', 23] : undefined;
}

function createComputes(machine: Machine, { gpu, gi }: Asked, profiles: string[]): Answer {
  const instance = gpu.mig.instances.find(({ gpuInstanceId }) => gpuInstanceId === gi);
  if (!instance) return printed('No GPU instances found: Not Found\n', 6);
  let said = '';
  for (const profile of profiles) {
    const slices = slicesOfCompute(Number(profile));
    const used = instance.computes.reduce((sum, one) => sum + one.slices, 0);
    if (slices === undefined || used + slices > migProfile(instance.profile).slices)
      return printed(
        `${said}Unable to create a compute instance on GPU ${two(gpu.minor)} GPU instance ID ${two(instance.gpuInstanceId)} using profile ${profile}: Insufficient Resources\nFailed to create compute instances: Insufficient Resources\n`,
        23,
      );
    const id = instance.computes.length;
    instance.computes.push({ id, slices, uuid: uuidFor(machine, gpu) });
    said += computeMade(gpu, instance, id, slices);
  }
  return printed(said);
}

function computeMade(gpu: SimulatedGpu, { profile, gpuInstanceId }: MigInstance, id: number, slices: number): string {
  const name = slices === migProfile(profile).slices ? profile : `${slices}c.${profile}`;
  return `Successfully created compute instance ID ${two(id)} on GPU ${two(gpu.minor)} GPU instance ID ${two(gpuInstanceId)} using profile MIG ${name} (ID ${two(computeProfileId(slices))})\n`;
}

function destroyComputes(machine: Machine, asked: Asked): Answer {
  const { gpu } = asked;
  let said = '';
  const meant = instancesMeant(asked).flatMap((instance) =>
    instance.computes
      .filter(({ id }) => asked.ci === null || id === asked.ci)
      .map((compute) => ({ instance, compute })),
  );
  if (meant.length === 0) return printed('No compute instances found: Not Found\n', 6);
  for (const { instance, compute } of meant) {
    const from = `compute instance ID ${two(compute.id)} from GPU ${two(gpu.minor)} GPU instance ID ${two(instance.gpuInstanceId)}`;
    const words = whyKept(machine, gpu, instance);
    if (words)
      return printed(
        `${said}Unable to destroy ${from}: ${words[0]}\nFailed to destroy compute instances: ${words[0]}\n`,
        words[1],
      );
    if (machine.smiChanges === 'made') instance.computes = instance.computes.filter((one) => one !== compute);
    said += `Successfully destroyed ${from}\n`;
  }
  return printed(said);
}

function destroyInstances(machine: Machine, asked: Asked): Answer {
  const { gpu } = asked;
  let said = '';
  const meant = instancesMeant(asked);
  if (meant.length === 0) return printed('No GPU instances found: Not Found\n', 6);
  for (const instance of meant) {
    const from = `GPU instance ID ${two(instance.gpuInstanceId)} from GPU ${two(gpu.minor)}`;
    const pretends = machine.smiChanges === 'pretended';
    const inUse = instance.computes.length > 0 && !pretends ? (['In use by another client', 19] as const) : undefined;
    const words = inUse ?? whyKept(machine, gpu, instance);
    if (words)
      return printed(
        `${said}Unable to destroy ${from}: ${words[0]}\nFailed to destroy GPU instances: ${words[0]}\n`,
        words[1],
      );
    if (!pretends) gpu.mig.instances = gpu.mig.instances.filter((one) => one !== instance);
    noted(machine, gpu, `-${instance.profile}@${instance.start}`, !pretends);
    said += `Successfully destroyed ${from}\n`;
  }
  return printed(said);
}

function instancesMeant({ gpu, gi }: Asked): MigInstance[] {
  return gpu.mig.instances.filter(({ gpuInstanceId }) => gi === null || gpuInstanceId === gi);
}

function whyKept(
  machine: Machine,
  gpu: SimulatedGpu,
  { gpuInstanceId }: MigInstance,
): readonly [words: string, code: number] | undefined {
  if (machine.smiChanges === 'denied') return ['Insufficient Permissions', 4];
  const used = gpu.clients.some((client) => client.gpuInstanceId === gpuInstanceId);
  return used || (gpu.clients.length === 0 && isHeld(machine, gpu)) ? ['In use by another client', 19] : undefined;
}

function noted(machine: Machine, gpu: SimulatedGpu, to: string, ok: boolean): void {
  machine.effects.push({ atMs: nowMs(machine), do: 'mig_instance', gpu: gpu.uuid, to, ok });
}

function uuidFor({ random, effects }: Machine, gpu: SimulatedGpu): string {
  const computes = gpu.mig.instances.reduce((sum, one) => sum + one.computes.length, 0);
  return `MIG-${random.uuid(`${gpu.uuid}/made/${effects.length}/${computes}`)}`;
}
