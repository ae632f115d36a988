import type { SimulatedGpu } from './gpu.ts';
import type { MigProfileName } from './models.ts';

/** One profile as the driver offers it. */
export interface MigOffer {
  name: MigProfileName;
  id: number;
  total: number;
  memoryGiB: string;
  slices: number;
  engines: { sm: number; dec: number; enc: number; ce: number; jpeg: number; ofa: number };
  starts: readonly number[];
  size: number;
}

type Row = [name: MigProfileName, memoryGiB: string, sm: number, dec: number, jpeg: number, ofa: number];

/** Same places on every board with eight slices of memory; sizes and engines are the board's own. */
const shapes = [
  { id: 19, total: 7, slices: 1, starts: [0, 1, 2, 3, 4, 5, 6], size: 1 },
  { id: 20, total: 1, slices: 1, starts: [0, 1, 2, 3, 4, 5, 6], size: 1 },
  { id: 15, total: 4, slices: 1, starts: [0, 2, 4, 6], size: 2 },
  { id: 14, total: 3, slices: 2, starts: [0, 2, 4], size: 2 },
  { id: 9, total: 2, slices: 3, starts: [0, 4], size: 4 },
  { id: 5, total: 1, slices: 4, starts: [0], size: 4 },
  { id: 0, total: 1, slices: 7, starts: [0], size: 8 },
] as const;

const rows: Record<'ampere' | 'hopper', readonly Row[]> = {
  ampere: [
    ['1g.5gb', '4.75', 14, 0, 0, 0],
    ['1g.5gb+me', '4.75', 14, 1, 1, 1],
    ['1g.10gb', '9.62', 14, 1, 0, 0],
    ['2g.10gb', '9.62', 28, 1, 0, 0],
    ['3g.20gb', '19.50', 42, 2, 0, 0],
    ['4g.20gb', '19.50', 56, 2, 0, 0],
    ['7g.40gb', '39.25', 98, 5, 1, 1],
  ],
  hopper: [
    ['1g.10gb', '9.75', 16, 1, 1, 0],
    ['1g.10gb+me', '9.75', 16, 1, 1, 1],
    ['1g.20gb', '19.62', 26, 1, 1, 0],
    ['2g.20gb', '19.62', 32, 2, 2, 0],
    ['3g.40gb', '39.50', 60, 3, 3, 0],
    ['4g.40gb', '39.50', 64, 4, 4, 0],
    ['7g.80gb', '79.25', 132, 7, 7, 1],
  ],
};

export function migOffers({ model }: SimulatedGpu): MigOffer[] {
  if (!model.mig) return [];
  return rows[model.mig.family].flatMap(([name, memoryGiB, sm, dec, jpeg, ofa], at) => {
    const shape = shapes[at];
    if (!shape) return [];
    return [{ ...shape, name, memoryGiB, engines: { sm, dec, enc: 0, ce: shape.slices, jpeg, ofa } }];
  });
}

export interface PlacedInstance {
  profile: MigProfileName;
  gpuInstanceId: number;
  offer: MigOffer;
  start: number;
  computes: readonly { id: number; slices: number }[];
}

/** Where the instances of a GPU lie. */
export function placedInstances(gpu: SimulatedGpu): PlacedInstance[] {
  const offers = migOffers(gpu);
  return gpu.mig.instances.flatMap(({ profile, gpuInstanceId, start, computes }) => {
    const offer = offers.find(({ name }) => name === profile);
    return offer ? [{ profile, gpuInstanceId, offer, start, computes }] : [];
  });
}

/** Where the driver puts another instance: large ones from the end. */
export function freeStart(placed: readonly PlacedInstance[], offer: MigOffer): number | undefined {
  const slices = placed.reduce((sum, one) => sum + one.offer.slices, offer.slices);
  const same = placed.filter((one) => one.offer.id === offer.id).length;
  if (slices > 7 || same >= offer.total) return undefined;
  const starts = offer.slices >= 3 ? [...offer.starts].reverse() : offer.starts;
  return starts.find((start) => isFree(placed, start, offer.size));
}

/** How many more instances of a profile fit beside those that are there. */
export function freeInstances(gpu: SimulatedGpu, offer: MigOffer): number {
  if (gpu.mig.current === 'disabled') return 0;
  const placed = placedInstances(gpu);
  const slicesLeft = 7 - placed.reduce((sum, one) => sum + one.offer.slices, 0);
  const more: { start: number; offer: MigOffer }[] = [];
  for (const start of offer.starts) if (isFree([...placed, ...more], start, offer.size)) more.push({ start, offer });
  const same = placed.filter((one) => one.offer.id === offer.id).length;
  return Math.max(0, Math.min(more.length, Math.floor(slicesLeft / offer.slices), offer.total - same));
}

export function isFree(taken: readonly { start: number; offer: MigOffer }[], start: number, size: number): boolean {
  return taken.every((one) => start + size <= one.start || one.start + one.offer.size <= start);
}
