import { expect, test } from 'vitest';
import { parseSmiTable } from './parse-smi-table.ts';

const wide = (rows: string, more = '') => `Mon Jun  1 12:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
${rows}+-----------------------------------------+------------------------+----------------------+
${more}`;
const row = (mig: string, ecc = '                   0', load = '      0%      Default') =>
  `|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:17:00.0 Off | ${ecc} |
| N/A   31C    P0             51W /  400W |      13MiB /  40960MiB |${load} |
|                                         |                        |${mig.padStart(21)} |
`;

test('reads a row of three lines', () => {
  const { value, unreadable } = parseSmiTable(wide(row('Disabled')));
  expect(unreadable).toEqual([]);
  expect(value).toMatchObject({ driverVersion: '550.90.07', cudaVersion: '12.4', attached: null, warnings: [] });
  expect(value?.gpus).toEqual([
    expect.objectContaining({
      index: 0,
      name: 'NVIDIA A100-SXM4-40GB',
      pciBusId: '00000000:17:00.0',
      persistenceMode: true,
      memoryUsedMiB: 13,
      memoryTotalMiB: 40_960,
      utilisationPercent: 0,
      temperatureC: 31,
      powerDrawW: 51,
      powerLimitW: 400,
      performanceState: 'P0',
      eccCurrent: true,
      eccUncorrectedVolatile: 0,
      throttleReasons: null,
      processes: null,
      mig: { current: 'disabled', pending: 'disabled', devices: [] },
    }),
  ]);
});

test.each([
  ['Enabled*', 'disabled', 'enabled'],
  ['Disabled*', 'enabled', 'disabled'],
  ['Enabled', 'enabled', 'enabled'],
  ['N/A', null, null],
])('MIG %s is %s now and %s after a reset', (cell, current, pending) => {
  expect(parseSmiTable(wide(row(cell))).value?.gpus[0]?.mig).toMatchObject({ current, pending });
});

test('a GPU in MIG mode has ECC and no count', () => {
  const read = parseSmiTable(wide(row('Enabled', '                  On', '    N/A      Default')));
  expect(read.value?.gpus[0]).toMatchObject({
    eccCurrent: true,
    eccUncorrectedVolatile: null,
    utilisationPercent: null,
  });
});

test('reads a row of two lines without CUDA, and a bus id with a short domain', () => {
  const text = `| NVIDIA-SMI 369.30                 Driver Version: 369.30                    |
|   0  GeForce 840M       WDDM  | 0000:03:00.0     Off |                  N/A |
| N/A   37C    P8    N/A /  N/A |     52MiB /  2048MiB |      0%   E. Process |
`;
  const { value, unreadable } = parseSmiTable(text);
  expect(unreadable).toEqual([]);
  expect(value).toMatchObject({ driverVersion: '369.30', cudaVersion: null });
  expect(value?.gpus[0]).toMatchObject({
    name: 'GeForce 840M',
    pciBusId: '0000:03:00.0',
    persistenceMode: null,
    memoryTotalMiB: 2048,
    powerDrawW: null,
    eccCurrent: null,
    mig: { current: null, pending: null },
  });
});

test('takes the versions from the names of 610', () => {
  const text = wide(row('N/A')).replace(
    'Driver Version: 550.90.07      CUDA Version: 12.4 ',
    'KMD Version: 610.62        CUDA UMD Version: 13.3 ',
  );
  expect(parseSmiTable(text).value).toMatchObject({ driverVersion: '610.62', cudaVersion: '13.3' });
});

test('a name that was cut is no name', () => {
  const text = wide(row('N/A')).replace('NVIDIA A100-SXM4-40GB    ', 'NVIDIA A100 80GB PC...   ');
  expect(parseSmiTable(text)).toMatchObject({
    value: { gpus: [{ name: null, printedName: 'NVIDIA A100 80GB PC...' }] },
    unreadable: [{ path: 'gpus.0.name', because: 'cut' }],
  });
});

test('what says ERR! is unknown and trouble, what is not supported is only unknown', () => {
  const broken = wide(row('ERR!'))
    .replace('N/A   31C', 'ERR!  31C')
    .replace(' 51W /  400W', 'ERR! /  400W')
    .replace('13MiB /  40960MiB', 'Not Supported    ');
  const { value, unreadable } = parseSmiTable(broken);
  expect(value?.gpus[0]).toMatchObject({ powerDrawW: null, powerLimitW: 400, memoryTotalMiB: null, temperatureC: 31 });
  expect(unreadable).toEqual(
    ['fanPercent', 'powerDrawW', 'mig.current', 'mig.pending'].map((name) => ({
      path: `gpus.0.${name}`,
      because: 'error_shown',
    })),
  );
});

const bar = `+${'-'.repeat(89)}+\n`;
const processes = (rows: string) => `${bar}| Processes:${' '.repeat(78)}|
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|${'='.repeat(89)}|
${rows}${bar}`;

test('reads processes, and an empty table of them is unknown', () => {
  const listed = processes(
    `|    0    2    0      4711      C   /opt/app --fast                               512MiB |
|    0   N/A  N/A      1456    C+G   ...AAAA= --shared-files                       N/A      |
`,
  );
  expect(parseSmiTable(wide(row('Enabled'), listed)).value?.gpus[0]?.processes).toEqual([
    { pid: 4711, type: 'C', name: '/opt/app --fast', usedMemoryMiB: 512, gpuInstanceId: 2, computeInstanceId: 0 },
    expect.objectContaining({ pid: 1456, type: 'C+G', name: '...AAAA= --shared-files', usedMemoryMiB: null }),
  ]);
  const none = processes(`|  No running processes found${' '.repeat(61)}|\n`);
  expect(parseSmiTable(wide(row('N/A'), none)).value?.gpus[0]?.processes).toEqual([]);
  expect(parseSmiTable(wide(row('N/A'), processes(''))).value?.gpus[0]?.processes).toBeNull();
});

test('reads the table of MIG devices', () => {
  const devices = `${bar}| MIG devices:${' '.repeat(76)}|
+------------------+----------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|        Shared         |
|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|                  |                                  |        ECC|                       |
|==================+==================================+===========+=======================|
|  0    1   0   0  |              37MiB /  20096MiB    | 42      0 |  3   0    2    0    0 |
|                  |                 0MiB / 32767MiB  |           |                       |
+------------------+----------------------------------+-----------+-----------------------+
`;
  const { value } = parseSmiTable(wide(row('Enabled'), devices));
  expect(value?.gpus[0]?.mig.devices).toEqual([
    expect.objectContaining({ index: 0, gpuInstanceId: 1, computeInstanceId: 0, memoryMiB: 20_096, uuid: null }),
  ]);
});

test('reads one table of several, says what is beside it, and takes no cut row', () => {
  const text = wide(row('Disabled'));
  expect(parseSmiTable(text + text)).toEqual(parseSmiTable(text));
  expect(parseSmiTable(`${text}WARNING: infoROM is corrupted at gpu 0000:17:00.0\n`).value?.warnings).toEqual([
    'WARNING: infoROM is corrupted at gpu 0000:17:00.0',
  ]);
  const cut = parseSmiTable(text.slice(0, text.indexOf('/  40960MiB') + 6));
  expect(cut.value?.gpus[0]).toMatchObject({ name: 'NVIDIA A100-SXM4-40GB', memoryTotalMiB: null, temperatureC: null });
  expect(cut.unreadable).toContainEqual({ path: 'gpus.0', because: 'truncated' });
});

test('names what was printed instead of a table', () => {
  expect(parseSmiTable('Failed to initialize NVML: Unknown Error\n').unreadable[0]?.because).toBe('nvml_unknown_error');
  expect(parseSmiTable('| a | b | c |\n').unreadable[0]?.because).toBe('not_smi_table');
});
