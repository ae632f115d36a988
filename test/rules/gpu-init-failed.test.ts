import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSaid, kernelSays, smiSays, withoutGpu } from './kernel-log-changes.ts';

const code = 'GPU_INIT_FAILED';
const two = 'x86-containerd-2';
const one = 'x86-docker';
const failed = 'NVRM: GPU 0000:42:00.0: RmInitAdapter failed! (0x22:0x56:884)';
const noDevices = smiSays({ exitCode: 6, stdout: 'No devices were found\n' });

test('a driver that fits and cannot initialise the GPU: the firmware settings of the machine', async () => {
  const host = await observeChanged(
    two,
    kernelSays(failed, 'NVRM: GPU 0000:42:00.0: rm_init_adapter failed, device minor number 1'),
    withoutGpu('0000:42:00.0'),
  );
  const [finding, ...more] = host.of(code);
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    subject: 'file:/sys/bus/pci/devices/0000:42:00.0',
    severity: 'blocker',
    evidence: [{ source: `command:${journal}`, quote: failed }],
    remedy: null,
  });
  expect(finding?.person).toContain('Above 4G');
  expect(host.causes()).toEqual([code]);
});

test('firmware that never boots on one GPU: a cold start, then service', async () => {
  const host = await observeChanged(
    two,
    kernelSays(
      'NVRM: gpuWaitForGfwBootComplete: failed to wait for GFW_BOOT: (progress 0x3)',
      'NVRM: GPU 0000:42:00.0: RmInitAdapter failed! (0x62:0x65:1792)',
    ),
    withoutGpu('0000:42:00.0'),
  );
  expect(host.of(code)).toMatchObject([{ subject: 'file:/sys/bus/pci/devices/0000:42:00.0' }]);
  expect(host.of(code)[0]?.person).toContain('cold');
});

test('a driver of old that names no address means the only GPU there is', async () => {
  const host = await observeChanged(one, kernelSays('NVRM: RmInitAdapter failed! (0x26:0x38:1170)'), noDevices);
  expect(host.of(code)).toMatchObject([{ subject: 'file:/sys/bus/pci/devices/0000:14:00.0' }]);
});

test('is silent where flavour or branch do not fit, or the GPU fell off the bus', async () => {
  const needsOpen =
    'NVRM: The NVIDIA GPU 0000:14:00.0 (PCI ID: 10de:2b85)\nNVRM: installed in this system requires use of the NVIDIA open kernel modules.';
  const own = 'NVRM: GPU 0000:14:00.0: RmInitAdapter failed! (0x22:0x56:884)';
  const flavour = await observeChanged(one, kernelSays(needsOpen, own), noDevices);
  expect(flavour.of(code)).toEqual([]);
  expect(flavour.causes()).toEqual(['DRIVER_FLAVOUR_UNSUPPORTED']);
  const fallen = await observeChanged(
    one,
    kernelSays('NVRM: Xid (PCI:0000:14:00): 79, GPU has fallen off the bus.', own),
    noDevices,
  );
  expect(fallen.of(code)).toEqual([]);
});

test('is silent when the GPU answers now, or the driver was loaded again since', async () => {
  expect((await observeChanged(two, kernelSays(failed))).of(code)).toEqual([]);
  expect((await observeChanged(two, kernelSaid(failed), withoutGpu('0000:42:00.0'))).of(code)).toEqual([]);
});

test('cannot tell without the log', async () => {
  expect((await observeChanged(two, kernelLogDenied)).untold(code)).toContain('denied');
});
