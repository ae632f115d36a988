import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { kernelLogDenied, kernelSaid, kernelSays } from './kernel-log-changes.ts';

const code = 'GPU_APP_FAULT_ONLY';
const two = 'x86-containerd-2';
const fault = (xid: number, name: string, bus = '0000:2e:00') =>
  `NVRM: Xid (PCI:${bus}): ${xid}, pid=1797828, name=${name}, Ch 00000008`;

test('tells a program that failed by itself, and that the GPU is well', async () => {
  const host = await observeChanged(two, kernelSays(fault(31, 'python3'), fault(45, 'python3'), fault(43, 'python3')));
  expect(host.of(code)).toMatchObject([
    { subject: expect.stringMatching(/^gpu:GPU-/), severity: 'info', remedy: null, evidence: expect.any(Array) },
  ]);
  expect(host.of(code)[0]?.summary).toContain('python3');
  expect(host.causes()).toEqual([]);
});

test('a removed channel without a name belongs to the program beside it, and a repaired row to none', async () => {
  const unnamed = "NVRM: Xid (PCI:0000:2e:00): 45, pid='<unknown>', name=<unknown>, Ch 00000008";
  expect((await observeChanged(two, kernelSays(fault(13, 'python3'), unnamed, fault(63, 'x')))).of(code)).toHaveLength(
    1,
  );
  expect((await observeChanged(two, kernelSays(unnamed))).of(code)).toEqual([]);
});

test('is silent when unrelated programs met it on one GPU, and speaks of each GPU for itself', async () => {
  expect((await observeChanged(two, kernelSays(fault(31, 'python3'), fault(31, 'trainer')))).of(code)).toEqual([]);
  const apart = await observeChanged(two, kernelSays(fault(31, 'python3'), fault(31, 'trainer', '0000:42:00')));
  expect(apart.of(code)).toHaveLength(2);
});

test.each([48, 62, 74, 79, 95, 119])('is silent beside Xid %i, which is of the GPU', async (xid) => {
  expect((await observeChanged(two, kernelSays(fault(31, 'python3'), fault(xid, 'python3')))).of(code)).toEqual([]);
});

test('an Xid that nobody knows is not taken for harmless', async () => {
  expect((await observeChanged(two, kernelSays(fault(31, 'python3'), fault(999, 'python3')))).of(code)).toEqual([]);
});

test('is history after the driver was loaded again, and cannot be told without the log', async () => {
  expect((await observeChanged(two, kernelSaid(fault(31, 'python3')))).of(code)).toEqual([]);
  expect((await observeChanged(two, kernelLogDenied)).untold(code)).toContain('denied');
});
