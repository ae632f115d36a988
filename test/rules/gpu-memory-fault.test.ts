import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { kernelSaid, kernelSays, smiSays, smiXml } from './kernel-log-changes.ts';

const code = 'GPU_MEMORY_FAULT';
const host = 'a100-mig';
const rows = (change: Record<string, string>) =>
  smiSays((xml) =>
    Object.entries(change).reduce(
      (text, [name, value]) => text.replace(new RegExp(`<${name}>[^<]*`), `<${name}>${value}`),
      xml,
    ),
  );

test('tells a pending row remap and proposes a reset of that GPU, when a person approves', async () => {
  const { facts, of } = await observeChanged(host, rows({ remapped_row_unc: '4', remapped_row_pending: 'Yes' }));
  const uuid = facts.gpus.value?.gpus[0]?.uuid;
  expect(of(code)).toMatchObject([
    {
      subject: `gpu:${uuid}`,
      severity: 'degraded',
      evidence: [{ source: `command:${smiXml}`, quote: '<remapped_row_pending>Yes</remapped_row_pending>' }],
      remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: uuid } }], approval: 'approve' },
    },
  ]);
});

test('sends a card whose remap failed to a person: a reset does not repair it', async () => {
  const { of } = await observeChanged(host, rows({ remapped_row_pending: 'Yes', remapped_row_failure: 'Yes' }));
  expect(of(code)).toMatchObject([{ severity: 'critical', remedy: null }]);
});

test('of a GPU that retires pages: pending asks for a reset, sixty-four are all that there are', async () => {
  const pending = await observeChanged(host, rows({ pending_retirement: 'Yes' }));
  expect(pending.of(code)).toMatchObject([{ severity: 'degraded', remedy: { jobs: [{ kind: 'reset_gpu' }] } }]);
  const few = await observeChanged(host, rows({ retired_count: '3' }));
  expect(few.of(code)).toEqual([]);
  const exhausted = await observeChanged(host, rows({ retired_count: '64' }));
  expect(exhausted.of(code)).toMatchObject([{ severity: 'critical', remedy: null }]);
});

const counted = rows({ sram_uncorrectable_parity: '2', dram_uncorrectable: '2' });
/** The first GPU of this class. */
const xid = (number: number) => `NVRM: Xid (PCI:0000:17:00): ${number}, pid='<unknown>', name=<unknown>, Row Remapper`;

test.each([
  ['alone', [], 'degraded'],
  ['with an Xid 48 of this load', [kernelSays(xid(48))], 'critical'],
  ['with an Xid 95 of this load', [kernelSays(xid(95))], 'critical'],
  ['with an Xid 48 from before it', [kernelSaid(xid(48))], 'degraded'],
] as const)('uncorrected errors %s are told', async (_, says, severity) => {
  expect((await observeChanged(host, counted, ...says)).of(code)).toMatchObject([{ severity }]);
});

test('lines of the log are history while the counters are clean', async () => {
  expect((await observeChanged(host, kernelSays(...[48, 63, 64, 94].map(xid)))).of(code)).toEqual([]);
});

test('cannot tell when nvidia-smi does not come back', async () => {
  expect((await observeChanged(host, smiSays({ timedOut: true }))).untold(code)).toContain('timed_out');
});
