import { readFileSync } from 'node:fs';
import { readers } from '@gpufleet/shared/probes';
import { expect, test } from 'vitest';
import { createSimulatedHost, simulatedClassNames } from '../index.ts';
import { createStoppedClock } from '../testing/stopped-clock.ts';
import { generationOf } from './smi-xml.ts';

/** Element paths in the order of real reports of each driver generation; `?`: depends on the GPU or its state. */
function knownElements(generation: number): string[] {
  const path = new URL(`./fixtures/smi-elements-${generation}.txt`, import.meta.url);
  return readFileSync(path, 'utf8').trim().split('\n');
}

/** Reads the tags by itself: the reader under test elsewhere must not judge the writer. */
function printedElements(xml: string): string[] {
  const paths = new Set<string>();
  const open: string[] = [];
  for (const [, closing, name = ''] of xml.matchAll(/<(\/?)([a-zA-Z0-9_]+)(?: [^>]*)?>/g)) {
    if (closing) {
      expect(open.pop()).toBe(name);
      continue;
    }
    open.push(name);
    if (open.length > 1) paths.add(open.slice(1).join('/'));
  }
  expect(open).toEqual([]);
  return [...paths];
}

async function smi(className: (typeof simulatedClassNames)[number], ...args: string[]) {
  const host = createSimulatedHost({ class: className, name: 'host-1', clock: createStoppedClock() });
  const ran = await host.run(['nvidia-smi', ...args], { timeoutMs: 1000 });
  if (!ran.ok) throw new Error(ran.detail);
  return { host, ...ran.value };
}

const withGpu = simulatedClassNames.filter((name) => name !== 'no-gpu');

test.each(withGpu)('%s prints the elements of its driver generation, in their order', async (className) => {
  const { host, stdout, exitCode } = await smi(className, '-q', '-x');
  expect(exitCode).toBe(0);
  const known = knownElements(generationOf(host.machine.driver?.library ?? ''));
  // A later GPU may show what the first does not: then the order of first sight is not the order of printing.
  const printed = printedElements(stdout.replace(/(<\/gpu>)[\s\S]*(<\/nvidia_smi_log>)/, '$1$2'));
  const names = known.map((path) => path.replace('?', ''));
  expect(printed.filter((path) => !names.includes(path))).toEqual([]);
  expect(printed).toEqual(names.filter((name) => printed.includes(name)));
  expect(known.filter((path) => !path.endsWith('?') && !printed.includes(path))).toEqual([]);
});

test.each(withGpu)('%s is read without a gap', async (className) => {
  const { host, stdout } = await smi(className, '-q', '-x');
  const read = readers.smi_xml(stdout) as { value: { gpus: unknown[] } | null; unreadable: unknown[] };
  expect(read.unreadable).toEqual([]);
  expect(read.value?.gpus).toHaveLength(host.machine.gpus.length);
});

test('lists GPUs and their MIG devices', async () => {
  const { host, stdout } = await smi('a100-mig', '-L');
  const [first, second] = host.machine.gpus;
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(7);
  expect(lines[0]).toBe(`GPU 0: NVIDIA A100-SXM4-40GB (UUID: ${first?.uuid})`);
  expect(lines[1]).toBe(`  MIG 3g.20gb     Device  0: (UUID: ${first?.mig.instances[0]?.computes[0]?.uuid})`);
  expect(lines[6]).toBe(`  MIG 7g.40gb     Device  0: (UUID: ${second?.mig.instances[0]?.computes[0]?.uuid})`);
});

test('spells the time as ctime does', async () => {
  const { stdout } = await smi('x86-docker', '-q', '-x');
  expect(stdout).toContain('<timestamp>Mon Jun  1 12:00:00 2026</timestamp>');
});

test('different hosts have different serials, UUIDs and bus ids', () => {
  const machines = ['host-1', 'host-2', 'host-3'].map(
    (name) => createSimulatedHost({ class: 'h100-mig', name, clock: createStoppedClock() }).machine,
  );
  const gpus = machines.flatMap((machine) => machine.gpus);
  for (const key of ['uuid', 'serial'] as const) expect(new Set(gpus.map((gpu) => gpu[key])).size).toBe(gpus.length);
  for (const { gpus: own } of machines) expect(new Set(own.map(({ busId }) => busId)).size).toBe(own.length);
  expect(new Set(machines.map((machine) => machine.gpus[0]?.busId)).size).toBeGreaterThan(1);
  expect(new Set(machines.map((machine) => machine.files.text('/etc/machine-id'))).size).toBe(3);
});

test('the same seed and name give the same machine', async () => {
  const [one, two] = await Promise.all([smi('h100-mig', '-q', '-x'), smi('h100-mig', '-q', '-x')]);
  expect(one.stdout).toBe(two.stdout);
});
