import type { Gpu, MigDevice } from './fact.ts';
import { toGpuDetails } from './smi-details.ts';
import { smiElement } from './smi-element.ts';

/** A GPU of which nothing is known but its place in the report. */
export function unknownGpu(index: number): Gpu {
  return {
    ...toGpuDetails(smiElement({}, []), (name) => name),
    index,
    pciBusId: null,
    uuid: null,
    name: null,
    serial: null,
    architecture: null,
    pciDeviceId: null,
    memoryTotalMiB: null,
    memoryUsedMiB: null,
    memoryReservedMiB: null,
    utilisationPercent: null,
    temperatureC: null,
    powerDrawW: null,
    powerLimitW: null,
    performanceState: null,
    persistenceMode: null,
    throttleReasons: null,
    eccCurrent: null,
    eccPending: null,
    eccUncorrectedVolatile: null,
    remappedRowsPending: null,
    remappedRowsFailure: null,
    recoveryAction: null,
    virtualisation: null,
    mig: { current: null, pending: null, devices: [] },
    processes: [],
    lost: false,
  };
}

/** A MIG device of which nothing is known but its place on its GPU. */
export function unknownMigDevice(index: number): MigDevice {
  return {
    index,
    gpuInstanceId: null,
    computeInstanceId: null,
    memoryMiB: null,
    memoryUsedMiB: null,
    attributes: {
      multiprocessors: null,
      copyEngines: null,
      encoders: null,
      decoders: null,
      jpegEngines: null,
      opticalFlowEngines: null,
    },
    eccUncorrectedVolatile: null,
    profile: null,
    uuid: null,
  };
}
