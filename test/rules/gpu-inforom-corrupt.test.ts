import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { kernelSays, smiSays, smiXml } from './kernel-log-changes.ts';

const code = 'GPU_INFOROM_CORRUPT';
const two = 'x86-containerd-2';
const warning = 'WARNING: infoROM is corrupted at gpu 0000:42:00.0';
const warns = async () => {
  const healthy = await observeChanged(two);
  expect(healthy.of(code)).toEqual([]);
  return observeChanged(
    two,
    smiSays((xml) => `${xml}\n${warning}\n`),
  );
};

test('tells the GPU that the warning names, and keeps reading the report', async () => {
  const host = await warns();
  expect(host.of(code)).toMatchObject([
    {
      subject: `gpu:${host.facts.gpus.value?.gpus[1]?.uuid}`,
      severity: 'warning',
      evidence: [{ source: `command:${smiXml}`, quote: warning }],
      remedy: null,
    },
  ]);
  expect(host.facts.gpus.value?.gpus).toHaveLength(2);
  expect(host.causes()).toEqual([code]);
});

test('an exit code of its own does not make it a driver that does not work', async () => {
  const report = async (xml: string) =>
    observeChanged(two, smiSays({ exitCode: 14, stdout: xml, stderr: `${warning}\n` }));
  const { readFileSync } = await import('node:fs');
  const dir = new URL(`../hosts/recorded/${two}/`, import.meta.url);
  const recorded = JSON.parse(readFileSync(new URL('host.json', dir), 'utf8')) as {
    commands: { argv: string[]; stdout: string }[];
  };
  const stdout = recorded.commands.find(({ argv }) => argv.join(' ') === smiXml)?.stdout ?? '';
  const host = await report(readFileSync(new URL(stdout, dir), 'utf8'));
  expect(host.facts.gpus.unreadable).toBeNull();
  expect(host.of(code)).toHaveLength(1);
  expect(host.causes()).toEqual([code]);
});

test('the kernel’s word counts as well', async () => {
  const host = await observeChanged(two, kernelSays('NVRM: GPU 0000:42:00.0: InfoROM is corrupted'));
  expect(host.of(code)).toHaveLength(1);
});

test('cannot tell when nvidia-smi does not come back', async () => {
  expect((await observeChanged(two, smiSays({ timedOut: true }))).untold(code)).toContain('timed_out');
});
