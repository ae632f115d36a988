import { z } from 'zod';
import { GpuDetails } from './gpu-details.ts';

/** `null` in any field below: nvidia-smi did not give it (N/A, Not Supported, ERR!, absent): unknown, never 0. */
export const MigMode = z.enum(['enabled', 'disabled']);
export type MigMode = z.infer<typeof MigMode>;

export const MigDevice = z.object({
  index: z.int().nullable(),
  gpuInstanceId: z.int().nullable(),
  computeInstanceId: z.int().nullable(),
  memoryMiB: z.number().nullable(),
  memoryUsedMiB: z.number().nullable(),
  /** What of the GPU belongs to its GPU instance; compute instances of one GPU instance share it. */
  attributes: z.object({
    multiprocessors: z.int().nullable(),
    copyEngines: z.int().nullable(),
    encoders: z.int().nullable(),
    decoders: z.int().nullable(),
    jpegEngines: z.int().nullable(),
    opticalFlowEngines: z.int().nullable(),
  }),
  eccUncorrectedVolatile: z.int().nullable(),
  /** Not in `-q -x`: from `nvidia-smi -L`, where it was read. */
  profile: z.string().nullable(),
  uuid: z.string().nullable(),
});
export type MigDevice = z.infer<typeof MigDevice>;

export const GpuProcess = z.object({
  pid: z.int(),
  /** C compute, G graphics, M MPS … as printed. */
  type: z.string().nullable(),
  name: z.string().nullable(),
  usedMemoryMiB: z.number().nullable(),
  gpuInstanceId: z.int().nullable(),
  computeInstanceId: z.int().nullable(),
});
export type GpuProcess = z.infer<typeof GpuProcess>;

export const Gpu = z.object({
  ...GpuDetails.shape,
  /** Position in the report. */
  index: z.int(),
  /** `id` attribute: PCI bus id as nvidia-smi spells it, e.g. `00000000:65:00.0`. */
  pciBusId: z.string().nullable(),
  uuid: z.string().nullable(),
  name: z.string().nullable(),
  serial: z.string().nullable(),
  architecture: z.string().nullable(),
  /** PCI device id word as printed, e.g. `0x20B010DE`. */
  pciDeviceId: z.string().nullable(),
  memoryTotalMiB: z.number().nullable(),
  memoryUsedMiB: z.number().nullable(),
  memoryReservedMiB: z.number().nullable(),
  utilisationPercent: z.number().nullable(),
  temperatureC: z.number().nullable(),
  powerDrawW: z.number().nullable(),
  powerLimitW: z.number().nullable(),
  performanceState: z.string().nullable(),
  persistenceMode: z.boolean().nullable(),
  /** Active throttle (event) reasons, by the element's name without its prefix; null: the driver does not tell. */
  throttleReasons: z.array(z.string()).nullable(),
  eccCurrent: z.boolean().nullable(),
  eccPending: z.boolean().nullable(),
  eccUncorrectedVolatile: z.number().nullable(),
  remappedRowsPending: z.boolean().nullable(),
  remappedRowsFailure: z.boolean().nullable(),
  recoveryAction: z.string().nullable(),
  virtualisation: z.string().nullable(),
  /** null = not MIG capable, or not told. */
  mig: z.object({ current: MigMode.nullable(), pending: MigMode.nullable(), devices: z.array(MigDevice) }),
  processes: z.array(GpuProcess),
  /** nvidia-smi says "GPU is lost". */
  lost: z.boolean(),
});
export type Gpu = z.infer<typeof Gpu>;

/** `nvidia-smi -q -x` as a whole. */
export const GpusFact = z.object({
  driverVersion: z.string().nullable(),
  cudaVersion: z.string().nullable(),
  /** `attached_gpus`; can differ from the number of elements that follow. */
  attached: z.int().nullable(),
  /** What nvidia-smi warned of beside its report, as printed: `WARNING: infoROM is corrupted at gpu 0000:B3:00.0`. */
  warnings: z.array(z.string()),
  gpus: z.array(Gpu),
});
export type GpusFact = z.infer<typeof GpusFact>;
