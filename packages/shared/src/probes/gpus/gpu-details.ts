import { z } from 'zod';

/** Groups of what `nvidia-smi -q -x` says of a GPU. `null`: it does not give the value (unknown, never 0). */

const count = z.int().nullable();
const reading = z.number().nullable();
const words = z.string().nullable();
const flag = z.boolean().nullable();

const GpuBoard = z.object({
  /** Same number: GPUs on one board. */
  id: words,
  partNumber: words,
  gpuPartNumber: words,
  fruPartNumber: words,
  multiGpu: flag,
  /** Place of the module in its chassis (SXM boards). */
  moduleId: words,
});

const GpuInforom = z.object({ image: words, oem: words, ecc: words, power: words });

const GpuPcie = z.object({
  /** Falls while the GPU idles; the width does not. */
  generation: count,
  /** What the GPU, the host and the slot between them can do together. */
  generationMax: count,
  generationMaxOfGpu: count,
  generationMaxOfHost: count,
  width: count,
  widthMax: count,
  /** Packets sent again since the last reset. */
  replays: count,
  replayRollovers: count,
  sentKBps: reading,
  receivedKBps: reading,
});

const GpuBar1 = z.object({ totalMiB: reading, usedMiB: reading });

const GpuUtilisation = z.object({
  memoryPercent: reading,
  encoderPercent: reading,
  decoderPercent: reading,
  jpegPercent: reading,
  ofaPercent: reading,
});

/** Older GPUs print limits as temperatures (`…C`), Ada, Hopper and later as a distance to them (`…MarginC`). */
const GpuTemperatures = z.object({
  memoryC: reading,
  /** Degrees that are left before the clocks are lowered. */
  marginC: reading,
  shutdownC: reading,
  slowdownC: reading,
  maxOperatingC: reading,
  memoryMaxOperatingC: reading,
  targetC: reading,
  shutdownMarginC: reading,
  slowdownMarginC: reading,
  maxOperatingMarginC: reading,
  memoryMaxOperatingMarginC: reading,
});

const GpuPower = z.object({
  averageW: reading,
  instantW: reading,
  memoryW: reading,
  /** GPU, memory and CPU of a superchip together. */
  moduleW: reading,
  requestedLimitW: reading,
  defaultLimitW: reading,
  /** The lowest of all limits that apply. */
  enforcedLimitW: reading,
  minLimitW: reading,
  maxLimitW: reading,
});

const GpuClocks = z.object({ graphicsMHz: reading, smMHz: reading, memoryMHz: reading, videoMHz: reading });
const GpuClockPair = z.object({ graphicsMHz: reading, memoryMHz: reading });

/** How long each reason has lowered the clocks since the driver was loaded. */
const GpuThrottledFor = z.object({
  powerCapUs: reading,
  syncBoostUs: reading,
  thermalSoftwareUs: reading,
  thermalHardwareUs: reading,
  powerBrakeUs: reading,
});

const EccCounts = z.object({ corrected: count, uncorrected: count });
const GpuEcc = z.object({
  /** Since the driver was loaded. */
  volatile: EccCounts,
  /** Over the life of the board. */
  aggregate: EccCounts,
  sramThresholdExceeded: flag,
  channelRepairPending: flag,
  tpcRepairPending: flag,
  unrepairableMemory: flag,
});

/** Turing and older retire pages; Ampere and later remap rows. */
const GpuRetiredPages = z.object({ singleBit: count, doubleBit: count, pending: flag });

const GpuRemappedRows = z.object({
  corrected: count,
  uncorrected: count,
  /** Banks by how many spare rows they have left. */
  banks: z.object({ max: count, high: count, partial: count, low: count, none: count }),
});

const GpuFabric = z.object({
  /** `Not Started`, `In Progress`, `Completed`; null: this GPU is on no NVSwitch fabric, or its driver is too old. */
  state: words,
  /** `Success`, or why registering with the fabric failed. */
  status: words,
  cliqueId: words,
  clusterUuid: words,
  health: words,
  bandwidth: words,
  routeUnhealthy: flag,
  incorrectConfiguration: words,
});

export const GpuDetails = z.object({
  brand: words,
  minorNumber: count,
  pciSubsystemId: words,
  vbiosVersion: words,
  gspFirmwareVersion: words,
  board: GpuBoard,
  inforom: GpuInforom,
  display: z.object({ mode: words, attached: words, active: words }),
  computeMode: words,
  addressingMode: words,
  accountingMode: flag,
  driverModel: z.object({ current: words, pending: words }),
  /** Of a host of virtual GPUs: `SR-IOV`, `Non SR-IOV`. */
  hostVgpuMode: words,
  pcie: GpuPcie,
  memoryFreeMiB: reading,
  bar1: GpuBar1,
  utilisation: GpuUtilisation,
  fanPercent: reading,
  temperatures: GpuTemperatures,
  power: GpuPower,
  clocks: GpuClocks,
  clocksMax: GpuClocks,
  clocksApplication: GpuClockPair,
  throttledFor: GpuThrottledFor,
  ecc: GpuEcc,
  retiredPages: GpuRetiredPages,
  remappedRows: GpuRemappedRows,
  /** Printed by branches 535 to 570; later ones print a recovery action. */
  reset: z.object({ required: flag, drainAndResetRecommended: flag }),
  fabric: GpuFabric,
});
export type GpuDetails = z.infer<typeof GpuDetails>;
