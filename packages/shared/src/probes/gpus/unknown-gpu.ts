import type { Gpu } from './fact.ts';
import { smiElement } from './smi-element.ts';
import { toGpuDetails } from './smi-details.ts';

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
    throttleReasons: [],
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
