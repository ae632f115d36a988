import type { Json } from '@gpufleet/shared/core';

export function heartbeatText(seq: number, sectionsDigest?: string): string {
  return JSON.stringify({ type: 'heartbeat', seq, uptimeMs: 1_000_000 + seq, attempt: null, sectionsDigest });
}

/** A fact of about 12 KB as an eight-GPU host reports it; values change with `seq`, so nothing is stored twice the same. */
export function reportBody(seq: number): Json {
  const gpu = (index: number): Json => ({
    index,
    pciBusId: `00000000:${(index + 16).toString(16)}:00.0`,
    uuid: `GPU-${String(seq).padStart(8, '0')}-0000-4000-8000-00000000000${index}`,
    name: 'NVIDIA H100 80GB HBM3',
    serial: null,
    architecture: 'Hopper',
    pciDeviceId: '0x233010DE',
    memoryTotalMiB: 81_559,
    memoryUsedMiB: 1_000 + (seq % 5_000),
    memoryReservedMiB: 551,
    utilisationPercent: seq % 100,
    temperatureC: 40 + (seq % 30),
    powerDrawW: 120.5,
    powerLimitW: 700,
    performanceState: 'P0',
    persistenceMode: true,
    throttleReasons: ['gpu_idle', 'sw_power_cap'],
    eccCurrent: true,
    eccPending: true,
    eccUncorrectedVolatile: 0,
    remappedRowsPending: false,
    remappedRowsFailure: false,
    recoveryAction: 'None',
    virtualisation: 'None',
    mig: { current: 'disabled', pending: 'disabled', devices: [] },
    processes: Array.from({ length: 6 }, (_, n) => ({
      pid: 1_000 + n,
      type: 'C',
      name: `/usr/bin/python3 worker-${n} --rank ${index}`,
      usedMemoryMiB: 900 + n,
      gpuInstanceId: null,
      computeInstanceId: null,
    })),
    lost: false,
  });
  return {
    readAtMs: 1_700_000_000_000 + seq,
    how: ['command:nvidia-smi -q -x'],
    value: {
      driverVersion: '580.65.06',
      cudaVersion: '13.0',
      attached: 8,
      gpus: Array.from({ length: 8 }, (_, index) => gpu(index)),
    },
    unreadable: null,
    partial: [],
  };
}
