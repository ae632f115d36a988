import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTegrastats } from './parse-tegrastats.ts';

const orin =
  'RAM 6334/15388MB (lfb 1770x4MB) SWAP 491/7694MB (cached 0MB) CPU [6%@729,9%@729,off,off] EMC_FREQ 0%@2133 GR3D_FREQ 41%@611 VIC_FREQ 729 APE 174 CPU@47.937C tj@48.875C VDD_IN 5299mW/5299mW VDD_SOC 1424mW/1400mW\n';

test('reads memory, load, temperatures and power of the last line', () => {
  const { value, unreadable } = parseTegrastats(`RAM 1/2MB CPU [1%@1]\n${orin}`);
  expect(unreadable).toEqual([]);
  expect(value).toEqual({
    ramUsedMiB: 6334,
    ramTotalMiB: 15388,
    swapUsedMiB: 491,
    swapTotalMiB: 7694,
    cpuPercent: [6, 9, null, null],
    gpuPercent: 41,
    gpuMHz: 611,
    memoryControllerPercent: 0,
    temperaturesC: { CPU: 47.937, tj: 48.875 },
    powerMilliwatts: { VDD_IN: 5299, VDD_SOC: 1424 },
  });
});

test.each([
  ['RAM 1/2MB GR3D 0%@76', { gpuPercent: 0, gpuMHz: 76 }],
  ['RAM 1/2MB GR3D_FREQ 0%@[305,305] NVENC off', { gpuPercent: 0, gpuMHz: 305 }],
  ['RAM 1/2MB GR3D_FREQ @[1000,1000,1000] APE 150', { gpuPercent: null, gpuMHz: 1000 }],
  ['RAM 1/2MB GR3D_FREQ 7% cpu@42C', { gpuPercent: 7, gpuMHz: null }],
  ['RAM 1/2MB cpu [40%,45%]@1734 VDD_IN 2532/2698', { cpuPercent: [40, 45], powerMilliwatts: { VDD_IN: 2532 } }],
])('reads how other releases print it: %s', (line, expected) => {
  expect(parseTegrastats(`${line}\n`).value).toMatchObject(expected);
});

test('says that a load is not printed, and that another text is none of its lines', () => {
  expect(parseTegrastats('RAM 1/2MB').unreadable).toEqual([{ path: 'gpuPercent', because: 'not_printed' }]);
  expect(parseTegrastats('bash: tegrastats: command not found')).toEqual({
    value: null,
    unreadable: [{ path: '', because: 'not_tegrastats' }],
  });
});

test('never throws', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseTegrastats(`RAM 1/2MB ${text}`)));
});
