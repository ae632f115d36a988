import type { Diagnosis } from '@gpufleet/shared/diagnosis';
import { type Facts, probeKeys } from '@gpufleet/shared/probes';
import { createFakeReader, type SmiGpuOptions, smiXmlText } from '@gpufleet/shared/probes/testing';
import { expect, test } from 'vitest';
import { sha256 } from '../identity/key.ts';
import { collectFacts } from './collect-facts.ts';
import { sectionsOf } from './sections-of.ts';

const nothing: Diagnosis = { findings: [], cannotTell: [] };

function factsOf(xml: string, only?: Parameters<typeof collectFacts>[0]['only']): Promise<Facts> {
  const host = createFakeReader({ files: { '/proc/modules': '' }, commands: { 'nvidia-smi -q -x': xml } });
  return collectFacts({ host, sha256, ...(only ? { only } : {}) });
}

function hashOf(facts: Facts, name: string): string | undefined {
  return sectionsOf(facts, nothing, sha256).find((section) => section.name === name)?.hash;
}

const gpu: SmiGpuOptions = { processes: [{ pid: '42', name: 'train', memory: '512 MiB' }] };

test('has one section for each fact and one for the diagnosis', async () => {
  const sections = sectionsOf(await factsOf(smiXmlText()), nothing, sha256);
  expect(sections.map(({ name }) => name).sort()).toEqual([...probeKeys, 'diagnosis'].sort());
  expect(sections.find(({ name }) => name === 'diagnosis')?.body).toEqual(nothing);
});

test('keeps its hash while only readings that never rest change, and carries them in the body', async () => {
  const before = smiXmlText({ gpus: [gpu] });
  const after = before
    .replace('<gpu_util>7 %', '<gpu_util>99 %')
    .replace('<gpu_temp>41 C', '<gpu_temp>77 C')
    .replace('<used>4 MiB', '<used>70000 MiB')
    .replace('118.20 W', '690.00 W')
    .replace('>512 MiB', '>60000 MiB')
    .replace('_sw_power_cap>Active', '_sw_power_cap>Not Active');
  const [old, now] = [await factsOf(before), await factsOf(after)];
  expect(hashOf(now, 'gpus')).toBe(hashOf(old, 'gpus'));
  const body = sectionsOf(now, nothing, sha256).find(({ name }) => name === 'gpus')?.body;
  expect(body).toMatchObject({ value: { gpus: [{ temperatureC: 77, utilisationPercent: 99 }] } });
});

test('keeps its hash while a sensor answers now and then, and not when a counter of errors ceases to', async () => {
  const before = smiXmlText({ gpus: [gpu] });
  const failing = await factsOf(before.replace('118.20 W', '[Unknown Error]'));
  expect(failing.gpus.partial).toContainEqual({ path: 'gpus.0.powerDrawW', because: 'unknown_error' });
  expect(hashOf(failing, 'gpus')).toBe(hashOf(await factsOf(before), 'gpus'));
  const blind = await factsOf(before.replace('<dram_uncorrectable>2', '<dram_uncorrectable>[Unknown Error]'));
  expect(hashOf(blind, 'gpus')).not.toBe(hashOf(failing, 'gpus'));
});

test('keeps its hash while a ring buffer rolls over what goes on happening', async () => {
  const line = (seconds: number, pid: number) =>
    `[${seconds}.000001] NVRM: Xid (PCI:0000:61:00): 119, pid=${pid}, name=train, Timeout after 6s of waiting for RPC response`;
  const logOf = async (...lines: string[]) =>
    await collectFacts({ host: createFakeReader({ commands: { dmesg: `${lines.join('\n')}\n` } }), sha256 });
  const old = await logOf(line(100, 1), line(145, 2));
  const now = await logOf(line(145, 2), line(190, 3));
  expect(old.kernel_log.value?.events).toMatchObject([{ xid: 119, count: 2, firstSeconds: 100.000001 }]);
  expect(hashOf(now, 'kernel_log')).toBe(hashOf(old, 'kernel_log'));
});

test('keeps its hash when only the time of reading changed', async () => {
  const facts = await factsOf(smiXmlText());
  const later = { ...facts, os: { ...facts.os, readAtMs: facts.os.readAtMs + 60_000 } };
  expect(hashOf(later, 'os')).toBe(hashOf(facts, 'os'));
});

test.each([
  ['a GPU is lost', (xml: string) => xml.replace('81559 MiB', 'GPU is lost')],
  ['a MIG mode is pending', (xml: string) => xml.replace('<pending_mig>N/A', '<pending_mig>Enabled')],
  ['a process ended', (xml: string) => xml.replace(/<process_info>.*<\/process_info>/, '')],
  ['an ECC error was counted', (xml: string) => xml.replace('<dram_uncorrectable>2', '<dram_uncorrectable>3')],
  ['nvidia-smi fails', () => 'Failed to initialize NVML: Unknown Error'],
])('changes its hash when %s', async (_, change) => {
  const xml = smiXmlText({ gpus: [gpu] });
  expect(hashOf(await factsOf(change(xml)), 'gpus')).not.toBe(hashOf(await factsOf(xml), 'gpus'));
});

test('changes the hash of the diagnosis with a finding', async () => {
  const facts = await factsOf(smiXmlText());
  const changed = { ...nothing, cannotTell: [{ code: 'GPU_OFF_BUS', because: 'no answer' }] };
  const hash = (diagnosis: Diagnosis) => sectionsOf(facts, diagnosis, sha256).at(-1)?.hash;
  expect(hash(changed)).not.toBe(hash(nothing));
});

test('leaves out facts that were not read', async () => {
  const sections = sectionsOf(await factsOf(smiXmlText(), ['gpus']), nothing, sha256);
  expect(sections.map(({ name }) => name)).toEqual(['gpus', 'diagnosis']);
});
