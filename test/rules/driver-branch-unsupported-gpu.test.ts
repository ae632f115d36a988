import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSays, smiSays, withoutGpu } from './kernel-log-changes.ts';

const code = 'DRIVER_BRANCH_UNSUPPORTED_GPU';
const one = 'x86-docker';
const two = 'x86-containerd-2';
const noDriver = smiSays({
  exitCode: 9,
  stdout: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
});
const legacy =
  'NVRM: The NVIDIA GeForce GTX 1050 GPU installed in this system is\nNVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please\nNVRM:  visit http://www.nvidia.com/object/unix.html for more\nNVRM:  information.  The 595.71.05 NVIDIA driver will ignore\nNVRM:  this GPU.  Continuing probe...';
const unbound = (address: string) => ({ files: { [`/sys/devices/pci0000:00/${address}/driver`]: null } });

test('names the branch that still has this GPU', async () => {
  const host = await observeChanged(
    one,
    kernelSays(legacy, 'NVRM: No NVIDIA GPU found.'),
    noDriver,
    unbound('0000:14:00.0'),
  );
  expect(host.of(code)).toMatchObject([
    {
      subject: 'file:/sys/bus/pci/devices/0000:14:00.0',
      severity: 'blocker',
      evidence: [{ source: `command:${journal}`, quote: expect.stringContaining('580.xx Legacy drivers') }],
      remedy: null,
    },
  ]);
  expect(host.of(code)[0]?.person).toContain('580');
});

test('leaves the choice to a person where other GPUs run with the newer branch', async () => {
  const host = await observeChanged(two, kernelSays(legacy), withoutGpu('0000:42:00.0'), unbound('0000:42:00.0'));
  expect(host.of(code)).toMatchObject([{ subject: 'file:/sys/bus/pci/devices/0000:42:00.0', remedy: null }]);
  expect(host.of(code)[0]?.person).toContain('Other GPUs');
});

test('tells a GPU that the driver release does not know at all', async () => {
  const text =
    'NVRM: The NVIDIA GPU 0000:14:00.0 (PCI ID: 10de:1050) installed\nNVRM: in this system is not supported by the 280.13 NVIDIA Linux\nNVRM: graphics driver release.  Please see';
  expect((await observeChanged(one, kernelSays(text), noDriver, unbound('0000:14:00.0'))).of(code)).toHaveLength(1);
});

test('is silent when every GPU answers, or the GPU that is meant is gone or held for a virtual machine', async () => {
  expect((await observeChanged(one, kernelSays(legacy))).of(code)).toEqual([]);
  expect((await observeChanged('no-gpu', kernelSays(legacy))).of(code)).toEqual([]);
  const vfio = { link: '../../../bus/pci/drivers/vfio-pci' };
  const passed = await observeChanged(two, kernelSays(legacy), withoutGpu('0000:42:00.0'), {
    files: { '/sys/devices/pci0000:00/0000:42:00.0/driver': vfio },
  });
  expect(passed.of(code)).toEqual([]);
});

test('cannot tell without the log', async () => {
  expect((await observeChanged(one, kernelLogDenied)).untold(code)).toContain('denied');
});
