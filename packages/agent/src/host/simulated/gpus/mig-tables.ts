import type { Machine } from '../machine.ts';
import { type Answer, matches, printed } from '../programs/program.ts';
import type { SimulatedGpu } from './gpu.ts';
import { freeInstances, type MigOffer, migOffers, placedInstances } from './mig-offers.ts';
import { generationOf } from './smi-xml.ts';

/** `nvidia-smi mig -lgip | -lgipp | -lgi | -lci`. */
export function migList({ driver, gpus }: Machine, args: readonly string[]): Answer | undefined {
  const capable = gpus.filter(({ model }) => model.mig);
  const enabled = capable.filter(({ mig }) => mig.current === 'enabled');
  const isOld = generationOf(driver?.library ?? '') < 550;
  if (matches(args, '-lgip') || matches(args, '-lgipp')) {
    if (isOld && enabled.length === 0) return printed('No MIG-enabled devices found.\n', 6);
    if (capable.length === 0) return printed('No MIG-supported devices found.\n', 6);
    const asked = isOld ? enabled : capable;
    return args[0] === '-lgip' ? printed(profileTable(asked)) : printed(asked.map(placements).join(''));
  }
  if (!matches(args, '-lgi') && !matches(args, '-lci')) return undefined;
  if (enabled.length === 0) return printed('No MIG-enabled devices found.\n', isOld ? 6 : 0);
  const what = args[0] === '-lgi' ? 'GPU' : 'compute';
  const listed = enabled.flatMap(({ mig }) => mig.instances);
  if (what === 'GPU' ? listed.length === 0 : listed.every(({ computes }) => computes.length === 0))
    return printed(`No ${what} instances found: Not Found\n`, 6);
  return printed(what === 'GPU' ? gpuInstanceTable(enabled) : computeInstanceTable(enabled));
}

function profileTable(gpus: readonly SimulatedGpu[]): string {
  const line = `+${'-'.repeat(77)}+\n`;
  const head = [
    '| GPU instance profiles:                                                      |\n',
    '| GPU   Name             ID    Instances   Memory     P2P    SM    DEC   ENC  |\n',
    '|                              Free/Total   GiB              CE    JPEG  OFA  |\n',
    `|${'='.repeat(77)}|\n`,
  ];
  const rows = gpus.flatMap((gpu) => migOffers(gpu).map((offer) => profileRow(gpu, offer) + line));
  return line + head.join('') + rows.join('');
}

function profileRow(gpu: SimulatedGpu, offer: MigOffer): string {
  const { sm, dec, enc, ce, jpeg, ofa } = offer.engines;
  const three = (...numbers: number[]) => numbers.map((number) => String(number).padStart(6)).join('');
  const name = offer.name.padEnd(14) + String(offer.id).padStart(2);
  const counts = `${freeInstances(gpu, offer)}/${offer.total}`;
  return (
    `|${String(gpu.minor).padStart(4)}  MIG ${name}     ${counts}        ${offer.memoryGiB.padEnd(8)}   No ${three(sm, dec, enc)}   |\n` +
    `|${' '.repeat(56)}${three(ce, jpeg, ofa)}   |\n`
  );
}

function placements(gpu: SimulatedGpu): string {
  return migOffers(gpu)
    .map(({ id, starts, size }) => {
      const word = starts.length > 1 ? 'Placements' : 'Placement ';
      return `GPU ${String(gpu.minor).padStart(2)} Profile ID ${String(id).padStart(2)} ${word}: {${starts.join(',')}}:${size}\n`;
    })
    .join('');
}

function gpuInstanceTable(gpus: readonly SimulatedGpu[]): string {
  const line = `+${'-'.repeat(55)}+\n`;
  const rows = gpus.flatMap((gpu) =>
    placedInstances(gpu).map(
      ({ profile, offer, gpuInstanceId, start }) =>
        `|${String(gpu.minor).padStart(4)}  MIG ${profile.padEnd(14)}${String(offer.id).padStart(4)}${String(gpuInstanceId).padStart(9)}${`${start}:${offer.size}`.padStart(13)}     |\n${line}`,
    ),
  );
  return `${line}| GPU instances:                                        |\n| GPU   Name             Profile  Instance   Placement  |\n|                          ID       ID       Start:Size |\n|${'='.repeat(55)}|\n${rows.join('')}`;
}

const computeSizes = [1, 2, 3, 4, 7];

export function computeProfileId(slices: number): number {
  return computeSizes.indexOf(slices);
}

export function slicesOfCompute(profileId: number): number | undefined {
  return computeSizes[profileId];
}

function computeInstanceTable(gpus: readonly SimulatedGpu[]): string {
  const line = `+${'-'.repeat(68)}+\n`;
  const rows = gpus.flatMap((gpu) =>
    placedInstances(gpu).flatMap(({ profile, offer, gpuInstanceId, computes }) =>
      computes.map(({ id, slices }, at) => {
        const name = slices === offer.slices ? profile : `${slices}c.${profile}`;
        const start = computes.slice(0, at).reduce((sum, one) => sum + one.slices, 0);
        return `|${String(gpu.minor).padStart(4)}${String(gpuInstanceId).padStart(7)}       MIG ${name.padEnd(14)}${String(computeProfileId(slices)).padStart(4)}${String(id).padStart(10)}${`${start}:${slices}`.padStart(13)}     |\n${line}`;
      }),
    ),
  );
  return `${line}| Compute instances:                                                 |\n| GPU     GPU       Name             Profile   Instance   Placement  |\n|       Instance                       ID        ID       Start:Size |\n|         ID                                                         |\n|${'='.repeat(68)}|\n${rows.join('')}`;
}
