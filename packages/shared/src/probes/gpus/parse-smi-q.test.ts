import { expect, test } from 'vitest';
import { parseSmiQ } from './parse-smi-q.ts';

const head = `
==============NVSMI LOG==============

Timestamp                                 : Mon Jun  1 12:00:00 2026
Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 1
`;
const gpu = (bus = '00000000:17:00.0') => `GPU ${bus}
    Product Name                          : NVIDIA A100-SXM4-40GB
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Enabled
        Pending                           : Disabled
    MIG Device
        Index                             : 0
        GPU Instance ID                   : 2
        Compute Instance ID               : 0
        Device Attributes
            Shared
                Multiprocessor count      : 42
        FB Memory Usage
            Total                         : 19968 MiB
            Used                          : 12 MiB
    Serial Number                         : 1320000000001
    GPU UUID                              : GPU-11111111-2222-3333-4444-555555555555
    Performance State                     : P0
    Clocks Event Reasons
        Idle                              : Active
        HW Slowdown                       : Not Active
            HW Thermal Slowdown           : Active
        Sync Boost                        : Not Active
    FB Memory Usage
        Total                             : 40960 MiB
        Reserved                          : 518 MiB
        Used                              : 13 MiB
    Utilization
        Gpu                               : N/A
    ECC Mode
        Current                           : Enabled
        Pending                           : Enabled
    ECC Errors
        Volatile
            SRAM Uncorrectable            : 0
            DRAM Uncorrectable            : 3
    Remapped Rows
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Temperature
        GPU Current Temp                  : 41 C
    GPU Power Readings
        Power Draw                        : 51.20 W
        Current Power Limit               : 400.00 W
    GPU Memory Power Readings 
        Power Draw                        : 8.00 W
    Processes
        GPU instance ID                   : 2
        Compute instance ID               : 0
        Process ID                        : 4711
            Type                          : C
            Name                          : /opt/app --port : 80
            Used GPU Memory               : 512 MiB
        GPU instance ID                   : N/A
        Compute instance ID               : N/A
        Process ID                        : 4712
            Type                          : G
            Name                          :
            Used GPU Memory               : Not available in WDDM driver model
`;

test('reads the same values as from the XML report', () => {
  const { value, unreadable } = parseSmiQ(head + gpu());
  expect(unreadable).toEqual([]);
  expect(value).toMatchObject({ driverVersion: '550.90.07', cudaVersion: '12.4', attached: 1 });
  expect(value?.gpus).toEqual([
    expect.objectContaining({
      index: 0,
      pciBusId: '00000000:17:00.0',
      uuid: 'GPU-11111111-2222-3333-4444-555555555555',
      serial: '1320000000001',
      name: 'NVIDIA A100-SXM4-40GB',
      memoryTotalMiB: 40_960,
      memoryUsedMiB: 13,
      memoryReservedMiB: 518,
      utilisationPercent: null,
      temperatureC: 41,
      powerDrawW: 51.2,
      powerLimitW: 400,
      throttleReasons: ['gpu_idle', 'hw_thermal_slowdown'],
      eccUncorrectedVolatile: 3,
      remappedRowsPending: true,
      remappedRowsFailure: false,
    }),
  ]);
  expect(value?.gpus[0]?.mig).toEqual({
    current: 'enabled',
    pending: 'disabled',
    devices: [
      expect.objectContaining({ index: 0, gpuInstanceId: 2, computeInstanceId: 0, memoryMiB: 19_968, uuid: null }),
    ],
  });
});

test('takes each process by its own lines', () => {
  expect(parseSmiQ(head + gpu()).value?.gpus[0]?.processes).toEqual([
    expect.objectContaining({ pid: 4711, name: '/opt/app --port : 80', usedMemoryMiB: 512, gpuInstanceId: 2 }),
    expect.objectContaining({ pid: 4712, name: null, usedMemoryMiB: null, gpuInstanceId: null }),
  ]);
});

test('takes the versions from their new names where the old ones hold sentences', () => {
  const text = `NVIDIA-SMI version  : 610.62
NVML version        : 610.62
DRIVER version      : Deprecated, see "KMD version" instead
CUDA version        : 13.3 [Deprecated; use "CUDA UMD Version" instead]
KMD version         : 610.62
`;
  expect(parseSmiQ(text)).toEqual({
    value: { driverVersion: '610.62', cudaVersion: '13.3', warnings: [], attached: null, gpus: [] },
    unreadable: [],
  });
});

test('a section that was not printed is unknown', () => {
  const partial = `${head}GPU 00000000:17:00.0
    Retired Pages
        Single Bit ECC                    : 60
`;
  expect(parseSmiQ(partial).value?.gpus[0]).toMatchObject({
    name: null,
    memoryTotalMiB: null,
    throttleReasons: null,
    processes: null,
  });
});

test('says when a report has fewer GPUs than are attached, or ends inside a line', () => {
  const two = head.replace('GPUs                             : 1', 'GPUs                             : 2');
  expect(parseSmiQ(two + gpu()).unreadable).toEqual([{ path: 'gpus', because: 'fewer_than_attached' }]);
  const text = head + gpu();
  const cut = text.slice(0, text.indexOf('1320000000001') + 5);
  expect(parseSmiQ(cut)).toMatchObject({
    value: { gpus: [{ serial: null, uuid: null }] },
    unreadable: [{ path: 'gpus.0', because: 'truncated' }],
  });
});

test('reads one report of several, and a report that is indented or has CRLF', () => {
  const plain = parseSmiQ(head + gpu());
  const text = head + gpu();
  expect(parseSmiQ(text + text)).toEqual(plain);
  expect(parseSmiQ(text.replaceAll('\n', '\r\n'))).toEqual(plain);
  expect(parseSmiQ(text.replaceAll(/^/gm, '   '))).toEqual(plain);
});

test('names what was printed instead of a report', () => {
  expect(parseSmiQ('No devices were found\n').unreadable).toEqual([{ path: '', because: 'no_devices' }]);
  expect(parseSmiQ('a : b\n').unreadable).toEqual([{ path: '', because: 'not_smi_q' }]);
});
