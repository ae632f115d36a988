import type { ConfigFile, RuntimeEntry, UnitState } from '../../probes/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import type { MigDevice } from '../../probes/gpus/fact.ts';
import { unknownGpu, unknownMigDevice } from '../../probes/gpus/unknown-gpu.ts';

/** All daemons of the healthy hosts started here; files are an hour older. */
export const startedAtMs = 1_796_000_000_000;
export const earlierMs = startedAtMs - 3_600_000;
export const laterMs = startedAtMs + 3_600_000;

export function aFile(path: string, change: Partial<ConfigFile> = {}): ConfigFile {
  return { path, present: true, sha256: 'a1'.repeat(32), mode: 0o644, mtimeMs: earlierMs, error: null, ...change };
}

export function noFile(path: string): ConfigFile {
  return { path, present: false, sha256: null, mode: null, mtimeMs: null, error: null };
}

export function aUnit(name: string, change: Partial<UnitState> = {}): UnitState {
  return {
    name,
    loadState: 'loaded',
    activeState: 'active',
    subState: 'running',
    result: 'success',
    enabled: 'enabled',
    startedAtMs,
    mainPid: 900,
    ...change,
  };
}

export const runc: RuntimeEntry = {
  name: 'runc',
  binary: null,
  type: 'io.containerd.runc.v2',
  systemdCgroup: true,
};
export const nvidia: RuntimeEntry = { ...runc, name: 'nvidia', binary: '/usr/bin/nvidia-container-runtime' };
export function aGpu(change: Partial<FactValue<'gpus'>['gpus'][number]> = {}): FactValue<'gpus'>['gpus'][number] {
  return {
    ...unknownGpu(0),
    pciBusId: '00000000:65:00.0',
    uuid: 'GPU-11111111-2222-3333-4444-555555555555',
    name: 'NVIDIA L4',
    serial: null,
    architecture: 'Ada Lovelace',
    pciDeviceId: '0x27B810DE',
    memoryTotalMiB: 23_034,
    memoryUsedMiB: 1,
    memoryReservedMiB: 400,
    utilisationPercent: 0,
    temperatureC: 40,
    powerDrawW: 17,
    powerLimitW: 72,
    performanceState: 'P8',
    persistenceMode: true,
    throttleReasons: [],
    eccCurrent: true,
    eccPending: true,
    eccUncorrectedVolatile: 0,
    remappedRowsPending: false,
    remappedRowsFailure: false,
    recoveryAction: 'None',
    virtualisation: 'None',
    mig: { current: null, pending: null, devices: [] },
    processes: [],
    lost: false,
    ...change,
  };
}

export function aMigDevice(index: number, change: Partial<MigDevice> = {}): MigDevice {
  return { ...unknownMigDevice(index), gpuInstanceId: index + 1, computeInstanceId: 0, ...change };
}

export function aConfig(
  runtimes: RuntimeEntry[],
  change: Partial<NonNullable<FactValue<'containerd'>['effective']>> = {},
): NonNullable<FactValue<'containerd'>['effective']> {
  return { schema: 2, imports: [], disabledPlugins: [], runtimes, defaultRuntime: 'runc', enableCdi: false, ...change };
}
