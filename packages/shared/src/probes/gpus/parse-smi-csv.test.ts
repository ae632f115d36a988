import { expect, test } from 'vitest';
import { parseSmiCsv } from './parse-smi-csv.ts';

const header =
  'index, name, uuid, driver_version, memory.total [MiB], temperature.gpu, power.draw [W], mig.mode.current, clocks_event_reasons.gpu_idle';
const line = '1, NVIDIA A30, GPU-1, 550.90.07, 24576 MiB, 41, 30.10 W, Enabled, Active';

test('reads fields of a GPU by their names', () => {
  const { value, unreadable } = parseSmiCsv(`${header}\n${line}\n`);
  expect(unreadable).toEqual([]);
  expect(value).toMatchObject({ driverVersion: '550.90.07', processes: [] });
  expect(value?.fields?.[4]).toBe('memory.total');
  expect(value?.gpus).toEqual([
    expect.objectContaining({
      index: 1,
      name: 'NVIDIA A30',
      uuid: 'GPU-1',
      memoryTotalMiB: 24_576,
      memoryUsedMiB: null,
      temperatureC: 41,
      powerDrawW: 30.1,
      mig: { current: 'enabled', pending: null, devices: [] },
      throttleReasons: ['gpu_idle'],
      processes: null,
    }),
  ]);
});

test('takes units from the header where the cells have none', () => {
  const plain = parseSmiCsv(`${header}\n${line}\n`).value?.gpus;
  expect(parseSmiCsv(`${header}\n${line.replace(' MiB', '').replace(' W', '')}\n`).value?.gpus).toEqual(plain);
});

test.each([
  ['[N/A]', []],
  ['[Not Supported]', []],
  ['[Unknown Error]', ['unknown_error']],
  ['[GPU is lost]', ['gpu_is_lost']],
  ['[Some New Sentence]', ['unexpected_text']],
])('%s is no value', (cell, reasons) => {
  const { value, unreadable } = parseSmiCsv(`${header}\n${line.replace('24576 MiB', cell)}\n`);
  expect(value?.gpus[0]?.memoryTotalMiB).toBeNull();
  expect(value?.rows[0]?.[4]).toBeNull();
  expect(unreadable.filter(({ path }) => path === 'rows.0.4').map(({ because }) => because)).toEqual(reasons);
});

test('without a header a cell has no name', () => {
  expect(parseSmiCsv('0, NVIDIA A30, 24576\n').value).toEqual({
    fields: null,
    rows: [['0', 'NVIDIA A30', '24576']],
    driverVersion: null,
    gpus: [],
    processes: [],
  });
});

test('reads processes, with separators in their names', () => {
  const text = `gpu_uuid, pid, process_name, used_gpu_memory [MiB]
GPU-1, 4711, python3, 538 MiB
GPU-1, 4712, "app, second ""mode""", 12 MiB
GPU-2, 4713, app, third, [N/A]
`;
  expect(parseSmiCsv(text)).toMatchObject({
    value: {
      gpus: [],
      processes: [
        { gpuUuid: 'GPU-1', pid: 4711, name: 'python3', usedMemoryMiB: 538 },
        { pid: 4712, name: 'app, second "mode"', usedMemoryMiB: 12 },
        { gpuUuid: 'GPU-2', pid: 4713, name: 'app, third', usedMemoryMiB: null },
      ],
    },
    unreadable: [],
  });
});

test('a decimal comma is no number', () => {
  const { value, unreadable } = parseSmiCsv(`power.draw [W], name\n30,10 W, NVIDIA A30\n`);
  expect(value?.gpus[0]).toMatchObject({ powerDrawW: null, name: 'NVIDIA A30' });
  expect(unreadable).toContainEqual({ path: 'gpus.0.powerDrawW', because: 'unexpected_text' });
});

test('a GPU that is printed again and again is one GPU', () => {
  const { value } = parseSmiCsv(`${header}\n${line}\n${line.replace('41', '42')}\n`);
  expect(value?.gpus).toHaveLength(1);
  expect(value?.rows).toHaveLength(2);
});

test('takes no cell that was cut, and no row of another width', () => {
  const cut = parseSmiCsv(`${header}\n${line.slice(0, line.indexOf('576 MiB'))}`);
  expect(cut.value?.gpus[0]).toMatchObject({ name: 'NVIDIA A30', memoryTotalMiB: null });
  expect(cut.unreadable).toContainEqual({ path: 'rows.0', because: 'truncated' });
  expect(parseSmiCsv('memory.total [MiB], memory.used [MiB]\n1 MiB\n')).toMatchObject({
    value: { gpus: [{ memoryTotalMiB: null }] },
    unreadable: [{ path: 'rows.0', because: 'unexpected_columns' }],
  });
});

test('names what was printed instead of rows', () => {
  for (const [text, because] of [
    ['No devices were found\n', 'no_devices'],
    ['Field "bogus" is not a valid field to query.\n', 'invalid_field'],
    ['a, b\nc\n', 'not_smi_csv'],
    ['', 'not_smi_csv'],
  ])
    expect(parseSmiCsv(text ?? '')).toEqual({ value: null, unreadable: [{ path: '', because }] });
});
