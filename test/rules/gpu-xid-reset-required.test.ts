import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSaid, kernelSays, smiSays } from './kernel-log-changes.ts';

const code = 'GPU_XID_RESET_REQUIRED';
const two = 'x86-containerd-2';
const gsp =
  'NVRM: Xid (PCI:0000:2e:00): 119, pid=977823, name=nvidia-smi, Timeout after 45s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL) (0x2080014b 0x5).';

test('tells a GPU whose system processor does not answer, and how often it did not', async () => {
  const host = await observeChanged(two, kernelSays(gsp, gsp.replace('977823', '977824'), gsp));
  expect(host.of(code)).toMatchObject([
    {
      subject: expect.stringMatching(/^gpu:GPU-/),
      severity: 'critical',
      evidence: [{ source: `command:${journal}`, quote: `${gsp} (3 times)` }],
      remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: expect.stringMatching(/^GPU-/) } }], approval: 'approve' },
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test.each([46, 62, 109, 119, 120, 140, 143])('Xid %i asks for a reset', async (xid) => {
  const host = await observeChanged(two, kernelSays(`NVRM: Xid (PCI:0000:2e:00): ${xid}, pid=7, name=python3, x`));
  expect(host.of(code)).toHaveLength(1);
});

test('the GPU is known by its place while nvidia-smi hangs', async () => {
  const host = await observeChanged(two, kernelSays(gsp), smiSays({ timedOut: true }));
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/sys/bus/pci/devices/0000:2e:00.0',
      remedy: { jobs: [{ kind: 'reset_gpu', params: { gpu: '0000:2e:00.0' } }] },
    },
  ]);
});

const asks = (from: string, to: string) =>
  `NVRM: Xid (PCI:0000:2e:00): 154, GPU recovery action changed from ${from} to ${to}`;

test.each([
  ['a reset', [asks('0x0 (None)', '0x1 (GPU Reset Required)')], 'reset_gpu'],
  ['a reboot', [asks('0x0 (None)', '0x2 (Node Reboot Required)')], 'reboot_host'],
  ['nothing any more', [gsp, asks('0x1 (GPU Reset Required)', '0x0 (None)')], undefined],
  ['a drain of its peers', [asks('0x0 (None)', '0x3 (Drain P2P)')], undefined],
])('does what Xid 154 names: %s', async (_, texts, kind) => {
  const [finding] = (await observeChanged(two, kernelSays(...texts))).of(code);
  expect(finding?.remedy?.jobs[0]?.kind).toBe(kind);
});

test.each([13, 31, 43, 45, 63, 68, 69, 94])('Xid %i alone does not', async (xid) => {
  const host = await observeChanged(two, kernelSays(`NVRM: Xid (PCI:0000:2e:00): ${xid}, pid=7, name=python3, x`));
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toEqual([]);
});

const boot = '-- Boot 0123456789abcdef0123456789abcdef --\n';
const lastBoot = { commands: { [journal]: (log: string) => `${log}[9.0] host-1 kernel: ${gsp}\n${boot}${log}` } };

test.each([
  ['the last load of the driver', kernelSaid(gsp)],
  ['a reset', kernelSays(gsp, 'nvidia 0000:2e:00.0: reset done')],
  ['the boot', lastBoot],
])('what was before %s is history', async (_, says) => {
  expect((await observeChanged(two, says)).of(code)).toEqual([]);
});

test('the reset of another GPU changes nothing', async () => {
  const host = await observeChanged(two, kernelSays(gsp, 'nvidia 0000:42:00.0: reset done'));
  expect(host.of(code)).toHaveLength(1);
});

test('on a GPU that has left the bus it is a consequence', async () => {
  const host = await observeChanged(
    two,
    kernelSays('NVRM: Xid (PCI:0000:2e:00): 79, GPU has fallen off the bus.', gsp),
  );
  expect(host.of(code)[0]?.consequenceOf?.code).toBe('GPU_OFF_BUS');
});

test('cannot tell without the right to read the log, unless there is no GPU', async () => {
  expect((await observeChanged(two, kernelLogDenied)).untold(code)).toContain('denied');
  expect((await observeChanged('no-gpu', kernelLogDenied)).untold(code)).toBeNull();
});
