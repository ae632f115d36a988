import fc from 'fast-check';
import { expect, test } from 'vitest';
import { smiXmlText } from '../testing/smi-xml-text.ts';
import { GpusFact } from './fact.ts';
import { parseSmiXml } from './parse-smi-xml.ts';

test('reads every value of a healthy report', () => {
  const { value, unreadable } = parseSmiXml(smiXmlText());
  expect(unreadable).toEqual([]);
  expect(value).toMatchObject({
    driverVersion: '580.95.05',
    cudaVersion: '13.0',
    warnings: [],
    attached: 1,
    gpus: [
      {
        index: 0,
        pciBusId: '00000000:17:00.0',
        uuid: 'GPU-00000000-0000-0000-0000-000000000000',
        name: 'NVIDIA H100 80GB HBM3',
        serial: '1650420000000',
        architecture: 'Hopper',
        pciDeviceId: '233010DE',
        memoryTotalMiB: 81559,
        memoryUsedMiB: 4,
        memoryReservedMiB: 551,
        utilisationPercent: 7,
        temperatureC: 41,
        powerDrawW: 118.2,
        powerLimitW: 700,
        performanceState: 'P0',
        persistenceMode: true,
        throttleReasons: ['sw_power_cap'],
        eccCurrent: true,
        eccPending: false,
        eccUncorrectedVolatile: 3,
        remappedRowsPending: false,
        remappedRowsFailure: true,
        recoveryAction: 'None',
        virtualisation: null,
        mig: { current: null, pending: null, devices: [] },
        processes: [],
        lost: false,
      },
    ],
  });
});

test('keeps a version as text', () => {
  expect(parseSmiXml(smiXmlText({ driver: '580.00' })).value?.driverVersion).toBe('580.00');
});

test('takes the memory of the GPU, not of its first MIG device', () => {
  const gpu = { mig: { current: 'Enabled', pending: 'Enabled' }, migDevices: [{ index: 0, gi: 3, ci: 0 }] };
  const read = parseSmiXml(smiXmlText({ gpus: [gpu] })).value?.gpus[0];
  expect(read?.memoryTotalMiB).toBe(81559);
  expect(read?.mig).toMatchObject({
    current: 'enabled',
    pending: 'enabled',
    devices: [{ index: 0, gpuInstanceId: 3, computeInstanceId: 0, memoryMiB: 9984, profile: null, uuid: null }],
  });
});

test('tells a pending MIG mode from the current one', () => {
  const read = parseSmiXml(smiXmlText({ gpus: [{ mig: { current: 'Disabled', pending: 'Enabled' } }] }));
  expect(read.value?.gpus[0]?.mig).toEqual({ current: 'disabled', pending: 'enabled', devices: [] });
});

test.each(['N/A', '[N/A]', 'Not Supported', '[Not Supported]', 'Requested functionality has been deprecated', ''])(
  'reads %j as unknown, which is no trouble and not zero',
  (memory) => {
    const { value, unreadable } = parseSmiXml(smiXmlText({ gpus: [{ memory }] }));
    expect(value?.gpus[0]?.memoryTotalMiB).toBeNull();
    expect(unreadable).toEqual([]);
  },
);

test.each([
  ['ERR!', 'error_shown'],
  ['[Unknown Error]', 'unknown_error'],
  ['Insufficient Permissions', 'insufficient_permissions'],
  ['12 GiB', 'unexpected_text'],
  ['0x10', 'unexpected_text'],
])('reads %j as unknown and says why', (memory, because) => {
  const { value, unreadable } = parseSmiXml(smiXmlText({ gpus: [{ memory }] }));
  expect(value?.gpus[0]?.memoryTotalMiB).toBeNull();
  expect(unreadable).toEqual([{ path: 'gpus.0.memoryTotalMiB', because }]);
});

test('sees a lost GPU that still has a name', () => {
  const { value, unreadable } = parseSmiXml(smiXmlText({ gpus: [{}, { memory: 'GPU is lost' }] }));
  expect(value?.gpus.map(({ lost, name }) => ({ lost, name }))).toEqual([
    { lost: false, name: 'NVIDIA H100 80GB HBM3' },
    { lost: true, name: 'NVIDIA H100 80GB HBM3' },
  ]);
  expect(unreadable).toContainEqual({ path: 'gpus.1.memoryTotalMiB', because: 'gpu_is_lost' });
});

test('does not lower the number of attached GPUs to the number described', () => {
  const { value } = parseSmiXml(smiXmlText({ attached: 4 }));
  expect({ attached: value?.attached, described: value?.gpus.length }).toEqual({ attached: 4, described: 1 });
});

test('reads the element names of branches before 535', () => {
  const old = smiXmlText({ gpus: [{ id: '0000:05:00.0' }] })
    .replaceAll('gpu_power_readings', 'power_readings')
    .replace('<average_power_draw>', '<power_draw>')
    .replace('</average_power_draw>', '</power_draw>')
    .replace('<current_power_limit>', '<power_limit>')
    .replace('</current_power_limit>', '</power_limit>')
    .replaceAll('clocks_event_reason', 'clocks_throttle_reason')
    .replace(/\s*<cuda_version>.*<\/cuda_version>/, '')
    .replace(/<!DOCTYPE.*>\n/, '')
    .replaceAll('\n', '\r\n');
  const { value, unreadable } = parseSmiXml(old);
  expect(unreadable).toEqual([]);
  expect(value?.cudaVersion).toBeNull();
  expect(value?.gpus[0]).toMatchObject({
    pciBusId: '0000:05:00.0',
    powerDrawW: 118.2,
    powerLimitW: 700,
    throttleReasons: ['sw_power_cap'],
  });
});

test('clocks that nothing lowers are another matter than reasons that the driver does not tell', () => {
  const list = /<clocks_event_reasons>[\s\S]*<\/clocks_event_reasons>/;
  const reasonsIn = (xml: string) => parseSmiXml(xml).value?.gpus[0]?.throttleReasons;
  expect(reasonsIn(smiXmlText().replaceAll('>Active<', '>Not Active<'))).toEqual([]);
  expect(reasonsIn(smiXmlText().replace(list, ''))).toBeNull();
  expect(reasonsIn(smiXmlText().replace(list, (text) => text.replace(/>(?:Not )?Active</g, '>N/A<')))).toBeNull();
});

test('keeps what was read when the output is cut, and says so', () => {
  const text = smiXmlText({ gpus: [{}, {}] });
  const { value, unreadable } = parseSmiXml(text.slice(0, text.lastIndexOf('<temperature>') + 24));
  expect(unreadable).toEqual([{ path: 'gpus.1', because: 'truncated' }]);
  expect(value?.gpus[1]).toMatchObject({ memoryTotalMiB: 81559, temperatureC: null });
});

test('never reads half a number where the output is cut', () => {
  const text = smiXmlText();
  const cut = parseSmiXml(text.slice(0, text.indexOf('81559 MiB') + 3));
  expect(cut.value?.gpus[0]?.memoryTotalMiB).toBeNull();
});

test('ignores a warning after the report and a comment before it', () => {
  const text = smiXmlText().replace('<nvidia_smi_log>', '<!-- a <gpu> that is none -->\n<nvidia_smi_log>');
  const { value, unreadable } = parseSmiXml(`${text}WARNING: infoROM is corrupted at gpu 0000:17:00.0\n`);
  expect(unreadable).toEqual([]);
  expect(value?.gpus).toHaveLength(1);
});

test('decodes the predefined entities and shortens long process names', () => {
  const name = `python --a=&lt;b&gt; &amp;c ${'x'.repeat(600)}`;
  const { value } = parseSmiXml(smiXmlText({ gpus: [{ processes: [{ pid: '42', name, memory: 'N/A' }] }] }));
  const process = value?.gpus[0]?.processes[0];
  expect(process?.name?.startsWith('python --a=<b> &c xxx')).toBe(true);
  expect(process?.name).toHaveLength(256);
  expect(process).toMatchObject({ pid: 42, type: 'C', usedMemoryMiB: null, gpuInstanceId: null });
});

test('leaves out a process without a number and says so', () => {
  const { value, unreadable } = parseSmiXml(smiXmlText({ gpus: [{ processes: [{ pid: '', name: 'x' }] }] }));
  expect(value?.gpus[0]?.processes).toEqual([]);
  expect(unreadable).toEqual([{ path: 'gpus.0.processes.0', because: 'process_without_pid' }]);
});

test('never expands a document type', () => {
  const bomb = `<nvidia_smi_log><!DOCTYPE x [<!ENTITY a "aaaa">]><driver_version>&a;</driver_version></nvidia_smi_log>`;
  expect(parseSmiXml(bomb)).toEqual({ value: null, unreadable: [{ path: '', because: 'document_type_inside' }] });
  const outside = smiXmlText({ driver: '&a;' }).replace(
    '<!DOCTYPE nvidia_smi_log',
    '<!DOCTYPE x [<!ENTITY a "boom">]>\n<!DOCTYPE nvidia_smi_log',
  );
  expect(parseSmiXml(outside).value?.driverVersion).toBe('&a;');
});

test.each([
  ['NVIDIA-SMI has failed because it couldn’t communicate', 'not_smi_xml'],
  ["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 'driver_not_loaded'],
  [
    'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.1',
    'driver_library_mismatch',
  ],
  ['No devices were found', 'no_devices'],
  ['', 'not_smi_xml'],
])('names what was printed instead of a report: %j', (text, because) => {
  expect(parseSmiXml(text)).toEqual({ value: null, unreadable: [{ path: '', because }] });
});

test('never throws and always gives a valid fact, whatever is cut or overwritten', () => {
  const text = smiXmlText({
    gpus: [{ mig: { current: 'Enabled', pending: 'Disabled' }, migDevices: [{ index: 0, gi: 1, ci: 0 }] }, {}],
  });
  const damage = fc.tuple(fc.nat(text.length), fc.nat(200), fc.string({ unit: 'binary', maxLength: 40 }));
  fc.assert(
    fc.property(damage, fc.nat(text.length), ([at, drop, insert], cut) => {
      const damaged = (text.slice(0, at) + insert + text.slice(at + drop)).slice(0, cut);
      const { value } = parseSmiXml(damaged);
      if (value !== null) GpusFact.parse(value);
    }),
    { numRuns: 300 },
  );
});

test('survives deep nesting', () => {
  const deep = `<nvidia_smi_log>${'<gpu>'.repeat(50_000)}`;
  expect(() => parseSmiXml(deep)).not.toThrow();
});

test('says that a warning below the report breaks off', () => {
  const text = `${smiXmlText()}WARNING: infoROM is corrupted at gpu 0000:17:00.0\n`;
  expect(parseSmiXml(text).unreadable).toEqual([]);
  expect(parseSmiXml(text.slice(0, -10)).unreadable).toEqual([{ path: 'warnings', because: 'truncated' }]);
});
