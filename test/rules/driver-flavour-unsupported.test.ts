import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSaid, kernelSays, smiSays, withoutGpu } from './kernel-log-changes.ts';

const code = 'DRIVER_FLAVOUR_UNSUPPORTED';
/** Its modules are the proprietary ones. */
const proprietary = 'x86-docker';
/** Its modules are the open ones. */
const open = 'x86-containerd-2';
const noDevices = smiSays({ exitCode: 6, stdout: 'No devices were found\n' });
const needsOpen = (address: string) =>
  `NVRM: The NVIDIA GPU ${address} (PCI ID: 10de:2b85)\nNVRM: installed in this system requires use of the NVIDIA open kernel modules.`;
const noGsp = (address: string) =>
  `NVRM: The NVIDIA GPU ${address} (PCI ID: 10de:1b82)\nNVRM: installed in this system is not supported by open\nNVRM: nvidia.ko because it does not include the required GPU\nNVRM: System Processor (GSP).\nNVRM: Please see the 'Open Linux Kernel Modules' and 'GSP\nNVRM: Firmware' sections in the driver README, available on`;

test('a GPU that requires the open modules under proprietary ones', async () => {
  const host = await observeChanged(
    proprietary,
    kernelSays(needsOpen('0000:14:00.0'), 'NVRM: GPU 0000:14:00.0: RmInitAdapter failed! (0x22:0x56:884)'),
    noDevices,
  );
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/sys/bus/pci/devices/0000:14:00.0',
      severity: 'blocker',
      evidence: [{ source: `command:${journal}`, quote: expect.stringContaining('open kernel modules') }],
      remedy: null,
      person: expect.stringContaining('-open'),
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test('a GPU without a system processor under open modules, of which the kernel kept none', async () => {
  const address = '0000:42:00.0';
  const host = await observeChanged(open, kernelSays(noGsp(address)), withoutGpu(address), {
    files: { [`/sys/devices/pci0000:00/${address}/driver`]: null },
  });
  expect(host.of(code)).toMatchObject([{ person: expect.stringContaining('proprietary') }]);
  expect(host.causes()).toEqual([code]);
});

test('what the driver says while it is being loaded counts although the line of the load comes after it', async () => {
  const load = 'NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.148.08  Release Build';
  const host = await observeChanged(open, kernelSays(noGsp('0000:42:00.0'), load), withoutGpu('0000:42:00.0'));
  expect(host.of(code)).toHaveLength(1);
});

test('is silent when the modules loaded now are of the other flavour, or the GPU answers', async () => {
  const switched = await observeChanged(open, kernelSays(needsOpen('0000:42:00.0')), withoutGpu('0000:42:00.0'));
  expect(switched.of(code)).toEqual([]);
  expect((await observeChanged(open, kernelSays(noGsp('0000:42:00.0')))).of(code)).toEqual([]);
  const reloaded = await observeChanged(proprietary, kernelSaid(needsOpen('0000:14:00.0')), noDevices);
  expect(reloaded.of(code)).toEqual([]);
});

test('cannot tell without the log', async () => {
  expect((await observeChanged(open, kernelLogDenied)).untold(code)).toContain('denied');
});
