/** What differs between GPU products in the output of nvidia-smi. */
export interface GpuModel {
  kind: 'discrete' | 'orin' | 'thor';
  name: string;
  brand: string;
  architecture: string;
  /** As `pci_device_id` prints it. */
  deviceId: string;
  subsystemId: string;
  pciClass: string;
  memoryMiB: number;
  reservedMiB: number;
  bar1MiB: number;
  vbios: string;
  boardPart: string;
  gpuPart: string;
  inforomImage: string;
  inforomOem: string;
  inforomEcc: string;
  linkGen: number;
  powerLimitW: number;
  minPowerW: number;
  idlePowerW: number;
  idleState: 'P0' | 'P8';
  idleTempC: number;
  maxGraphicsMhz: number;
  memoryMhz: number;
  /** Rows that can be remapped, in banks; null: no row remapper (Turing and older, Jetson). */
  remapBanks: number | null;
  /** Temperatures are printed as distance to the limit (Ada, Hopper and later). */
  tLimit: boolean;
  splitSramErrors: boolean;
  mig: { family: 'ampere' | 'hopper' } | null;
}

const dataCentre = { kind: 'discrete', brand: 'NVIDIA', pciClass: '0x030200' } as const;
const noInforom = {
  inforomImage: 'N/A',
  inforomOem: 'N/A',
  inforomEcc: 'N/A',
  boardPart: 'N/A',
  gpuPart: 'N/A',
} as const;

export const gpuModels = {
  t4: {
    ...dataCentre,
    name: 'Tesla T4',
    architecture: 'Turing',
    deviceId: '1EB810DE',
    subsystemId: '12A210DE',
    memoryMiB: 15360,
    reservedMiB: 437,
    bar1MiB: 256,
    vbios: '90.04.96.00.02',
    boardPart: '900-2G183-0000-001',
    gpuPart: '1EB8-895-A1',
    inforomImage: 'G183.0200.00.02',
    inforomOem: '1.1',
    inforomEcc: '5.0',
    linkGen: 3,
    powerLimitW: 70,
    minPowerW: 60,
    idlePowerW: 9,
    idleState: 'P8',
    idleTempC: 34,
    maxGraphicsMhz: 1590,
    memoryMhz: 5001,
    remapBanks: null,
    tLimit: false,
    splitSramErrors: false,
    mig: null,
  },
  l4: {
    ...dataCentre,
    name: 'NVIDIA L4',
    architecture: 'Ada Lovelace',
    deviceId: '27B810DE',
    subsystemId: '16CA10DE',
    memoryMiB: 23034,
    reservedMiB: 556,
    bar1MiB: 32768,
    vbios: '95.04.29.00.06',
    boardPart: '900-2G193-0000-000',
    gpuPart: '27B8-895-A1',
    inforomImage: 'G193.0200.00.01',
    inforomOem: '2.1',
    inforomEcc: '6.16',
    linkGen: 4,
    powerLimitW: 72,
    minPowerW: 40,
    idlePowerW: 16,
    idleState: 'P8',
    idleTempC: 33,
    maxGraphicsMhz: 2040,
    memoryMhz: 6251,
    remapBanks: 96,
    tLimit: true,
    splitSramErrors: true,
    mig: null,
  },
  a100: {
    ...dataCentre,
    name: 'NVIDIA A100-SXM4-40GB',
    architecture: 'Ampere',
    deviceId: '20B010DE',
    subsystemId: '134F10DE',
    memoryMiB: 40960,
    reservedMiB: 518,
    bar1MiB: 65536,
    vbios: '92.00.45.00.03',
    boardPart: '692-2G506-0200-003',
    gpuPart: '20B0-884-A1',
    inforomImage: 'G506.0200.00.04',
    inforomOem: '2.0',
    inforomEcc: '6.16',
    linkGen: 4,
    powerLimitW: 400,
    minPowerW: 100,
    idlePowerW: 51,
    idleState: 'P0',
    idleTempC: 31,
    maxGraphicsMhz: 1410,
    memoryMhz: 1215,
    remapBanks: 640,
    tLimit: false,
    splitSramErrors: true,
    mig: { family: 'ampere' },
  },
  h100: {
    ...dataCentre,
    name: 'NVIDIA H100 80GB HBM3',
    architecture: 'Hopper',
    deviceId: '233010DE',
    subsystemId: '16C110DE',
    memoryMiB: 81559,
    reservedMiB: 551,
    bar1MiB: 131072,
    vbios: '96.00.99.00.01',
    boardPart: '692-2G520-0200-000',
    gpuPart: '2330-885-A1',
    inforomImage: 'G520.0200.00.05',
    inforomOem: '2.1',
    inforomEcc: '7.16',
    linkGen: 5,
    powerLimitW: 700,
    minPowerW: 200,
    idlePowerW: 71,
    idleState: 'P0',
    idleTempC: 29,
    maxGraphicsMhz: 1980,
    memoryMhz: 2619,
    remapBanks: 2560,
    tLimit: true,
    splitSramErrors: true,
    mig: { family: 'hopper' },
  },
  orin: {
    ...dataCentre,
    ...noInforom,
    kind: 'orin',
    name: 'Orin (nvgpu)',
    architecture: 'Ampere',
    deviceId: 'N/A',
    subsystemId: 'N/A',
    memoryMiB: 0,
    reservedMiB: 0,
    bar1MiB: 0,
    vbios: 'N/A',
    linkGen: 0,
    powerLimitW: 0,
    minPowerW: 0,
    idlePowerW: 0,
    idleState: 'P0',
    idleTempC: 0,
    maxGraphicsMhz: 0,
    memoryMhz: 0,
    remapBanks: null,
    tLimit: false,
    splitSramErrors: false,
    mig: null,
  },
  thor: {
    ...dataCentre,
    ...noInforom,
    kind: 'thor',
    name: 'NVIDIA Thor',
    architecture: 'Blackwell',
    pciClass: '0x030000',
    deviceId: '2B0010DE',
    subsystemId: '000010DE',
    memoryMiB: 0,
    reservedMiB: 0,
    bar1MiB: 0,
    vbios: '9B.00.00.00.00',
    linkGen: 0,
    powerLimitW: 0,
    minPowerW: 0,
    idlePowerW: 0,
    idleState: 'P0',
    idleTempC: 0,
    maxGraphicsMhz: 0,
    memoryMhz: 0,
    remapBanks: null,
    tLimit: true,
    splitSramErrors: true,
    // NVML names a mode, yet this release does not let it be switched.
    mig: null,
  },
} as const satisfies Record<string, GpuModel>;
export type GpuModelName = keyof typeof gpuModels;

export interface MigProfile {
  slices: number;
  memoryMiB: number;
  multiprocessors: number;
  copyEngines: number;
  decoders: number;
  jpeg: number;
  ofa: number;
}

const profiles = {
  '1g.5gb': { slices: 1, memoryMiB: 4864, multiprocessors: 14, copyEngines: 1, decoders: 0, jpeg: 0, ofa: 0 },
  '2g.10gb': { slices: 2, memoryMiB: 9856, multiprocessors: 28, copyEngines: 2, decoders: 1, jpeg: 0, ofa: 0 },
  '3g.20gb': { slices: 3, memoryMiB: 19968, multiprocessors: 42, copyEngines: 3, decoders: 2, jpeg: 0, ofa: 0 },
  '7g.40gb': { slices: 7, memoryMiB: 40192, multiprocessors: 98, copyEngines: 7, decoders: 5, jpeg: 1, ofa: 1 },
  '1g.10gb': { slices: 1, memoryMiB: 9984, multiprocessors: 16, copyEngines: 1, decoders: 1, jpeg: 1, ofa: 0 },
  '2g.20gb': { slices: 2, memoryMiB: 20096, multiprocessors: 32, copyEngines: 2, decoders: 2, jpeg: 2, ofa: 0 },
  '1g.5gb+me': { slices: 1, memoryMiB: 4864, multiprocessors: 14, copyEngines: 1, decoders: 1, jpeg: 1, ofa: 1 },
  '4g.20gb': { slices: 4, memoryMiB: 19968, multiprocessors: 56, copyEngines: 4, decoders: 2, jpeg: 0, ofa: 0 },
  '1g.10gb+me': { slices: 1, memoryMiB: 9984, multiprocessors: 16, copyEngines: 1, decoders: 1, jpeg: 1, ofa: 1 },
  '1g.20gb': { slices: 1, memoryMiB: 20096, multiprocessors: 26, copyEngines: 1, decoders: 1, jpeg: 1, ofa: 0 },
  '4g.40gb': { slices: 4, memoryMiB: 40448, multiprocessors: 64, copyEngines: 4, decoders: 4, jpeg: 4, ofa: 0 },
  '7g.80gb': { slices: 7, memoryMiB: 81152, multiprocessors: 132, copyEngines: 8, decoders: 7, jpeg: 7, ofa: 1 },
  '3g.40gb': { slices: 3, memoryMiB: 40448, multiprocessors: 60, copyEngines: 3, decoders: 3, jpeg: 3, ofa: 0 },
} as const satisfies Record<string, MigProfile>;
export type MigProfileName = keyof typeof profiles;

export function migProfile(name: MigProfileName): MigProfile {
  return profiles[name];
}
