import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { smiXmlText } from '../testing/smi-xml-text.ts';
import { gpusProbe } from './index.ts';
import { parseSmiWarnings } from './parse-smi-warnings.ts';

const warning = 'WARNING: infoROM is corrupted at gpu 0000:B3:00.0';

test.each([
  ['after the report', { exitCode: 14, stdout: `${smiXmlText()}\n${warning}\n` }],
  ['before it', { exitCode: 14, stdout: `${warning}\n${smiXmlText()}` }],
  ['on the other stream', { exitCode: 14, stdout: smiXmlText(), stderr: `${warning}\n` }],
  ['on both', { exitCode: 14, stdout: `${smiXmlText()}\n${warning}\r\n`, stderr: `${warning}\n` }],
])('a warning %s is kept, and the report is read whatever the exit code', async (_, ran) => {
  const { value, unreadable } = await collectOn(gpusProbe, { commands: { 'nvidia-smi -q -x': ran } });
  expect(unreadable).toBeNull();
  expect(value?.gpus.length).toBeGreaterThan(0);
  expect(value?.warnings).toEqual([warning]);
});

test('what stands inside the report is no warning of it', () => {
  expect(parseSmiWarnings(`<nvidia_smi_log>\n${warning}\n</nvidia_smi_log>\n`)).toEqual([]);
  expect(parseSmiWarnings('')).toEqual([]);
});
