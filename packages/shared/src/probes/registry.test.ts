import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { probeKeys } from './facts.ts';
import { probes } from './registry.ts';
import { collectOn } from './testing/fake-reader.ts';

const here = new URL('.', import.meta.url);

test('registers every folder with a probe, and every key of Facts once', () => {
  const folders = readdirSync(here, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'testing')
    .map(({ name }) => name.replaceAll('-', '_'));
  expect(probes.map(({ key }) => key).sort()).toEqual([...folders].sort());
  expect([...probeKeys].sort()).toEqual([...folders].sort());
});

test('reads what the kernel says before it asks nvidia-smi', () => {
  const asks = probes.map(({ inputs }) => inputs.commands.some(({ argv }) => argv[0] === 'nvidia-smi'));
  expect(asks).toContain(true);
  expect(asks.slice(asks.indexOf(true))).not.toContain(false);
});

test('stands after every fact that it builds upon', () => {
  const order = probes.map(({ key }) => key);
  for (const { key, after = [] } of probes)
    for (const other of after) expect(order.indexOf(other), `${key} after ${other}`).toBeLessThan(order.indexOf(key));
  expect(probes.some(({ after = [] }) => after.length > 0)).toBe(true);
});

test('declares only absolute paths and argument lists without a shell', () => {
  for (const { inputs } of probes) {
    for (const path of inputs.files) expect(path).toMatch(/^\//);
    for (const { argv } of inputs.commands) expect(argv[0]).toMatch(/^(\/[a-z0-9/-]+\/)?[a-z0-9-]+$/);
  }
});

test.each(probes.map((probe) => [probe.key, probe] as const))(
  'gives a fact on a host where nothing can be read: %s',
  async (_, probe) => {
    const denied = Object.fromEntries(
      probe.inputs.files.filter((path) => !path.includes('*')).map((path) => [path, { fails: 'denied' as const }]),
    );
    const { value, unreadable } = await collectOn(probe as Parameters<typeof collectOn>[0], { files: denied });
    expect(value === null).toBe(unreadable !== null);
  },
);

test.each(probes.map((probe) => [probe.key, probe] as const))('gives a fact on an empty host: %s', async (_, probe) => {
  const { value, unreadable } = await collectOn(probe as Parameters<typeof collectOn>[0], {});
  expect(value === null).toBe(unreadable !== null);
});
