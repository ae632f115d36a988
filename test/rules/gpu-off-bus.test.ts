import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSaid, kernelSays, smiSays, smiXml, withoutGpu } from './kernel-log-changes.ts';

const code = 'GPU_OFF_BUS';
/** The second of the two GPUs of this class. */
const address = '0000:42:00.0';
const two = 'x86-containerd-2';
const device = `file:/sys/bus/pci/devices/${address}`;
const lost = (xml: string) => {
  const at = xml.lastIndexOf('<gpu_temp>');
  return `${xml.slice(0, at)}${xml.slice(at).replace(/<gpu_temp>[^<]*/, '<gpu_temp>GPU is lost')}`;
};

test.each([
  'NVRM: Xid (PCI:0000:42:00): 79, pid=1234, GPU has fallen off the bus.',
  'NVRM: Xid (0000:42:00): 79, GPU has fallen off the bus.',
  "NVRM: Xid (PCI:0000:42:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
  'NVRM: GPU 0000:42:00.0: GPU has fallen off the bus.',
  'NVRM: GPU at PCI:0000:42:00 has fallen off the bus.',
  'NVRM: The NVIDIA GPU 0000:42:00.0 (PCI ID: 10de:27b8) installed in this\nNVRM: system has fallen off the bus and is not responding to commands.',
])('tells it by the kernel log, in any layout: %s', async (text) => {
  const host = await observeChanged(two, kernelSays(text));
  const [finding, ...more] = host.of(code);
  expect(more).toEqual([]);
  expect(finding).toMatchObject({
    subject: expect.stringMatching(/^gpu:GPU-/),
    severity: 'critical',
    evidence: [{ source: `command:${journal}`, quote: expect.stringMatching(/fallen off the bus/) }],
    remedy: { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' },
  });
  expect(host.causes()).toContain(code);
});

test('the kernel and nvidia-smi speak of one GPU in one finding', async () => {
  const host = await observeChanged(
    two,
    kernelSays(
      'NVRM: Xid (PCI:0000:42:00): 79, GPU has fallen off the bus.',
      'NVRM: GPU 0000:42:00.0: GPU has fallen off the bus.',
    ),
    smiSays(lost),
  );
  expect(host.of(code).map(({ evidence }) => evidence.length)).toEqual([3]);
});

test('tells it by nvidia-smi alone: lost, missing, or the reason why there is no report', async () => {
  expect((await observeChanged(two, smiSays(lost))).of(code)).toHaveLength(1);
  const missing = await observeChanged(two, withoutGpu(address));
  expect(missing.of(code)).toMatchObject([{ subject: device }]);
  const said = `Unable to determine the device handle for GPU ${address}: GPU is lost.  Reboot the system to recover this GPU\n`;
  const refused = await observeChanged(two, smiSays({ exitCode: 15, stdout: said }));
  expect(refused.of(code)).toMatchObject([{ subject: device, evidence: [{ quote: said.trim() }] }]);
});

test('tells it by a configuration space of ones, as lspci shows rev ff', async () => {
  const ones = '\u00ff'.repeat(64);
  const host = await observeChanged(two, {
    files: { [`/sys/devices/pci0000:00/${address}/config`]: Buffer.from(ones, 'latin1').toString('utf8') },
  });
  expect(host.of(code)).toMatchObject([{ evidence: [{ source: `${device}/config` }] }]);
});

const information = (place: string) => `/proc/driver/nvidia/gpus/${place}/information`;
const notOnBus: Changes = {
  files: { [`/sys/bus/pci/devices/${address}`]: null, [`/sys/devices/pci0000:00/${address}`]: null },
};

test('tells a GPU that the driver still has and the bus has not any more', async () => {
  const held: Changes = { files: { [information(address)]: 'Model: NVIDIA L4\nBus Location: 0000:42:00.0\n' } };
  const host = await observeChanged(two, notOnBus, held, withoutGpu(address));
  expect(host.of(code)).toMatchObject([
    {
      subject: device,
      summary: `GPU ${address} is no longer on the PCI bus`,
      evidence: [
        { source: `file:${information(address)}` },
        { source: 'file:/sys/bus/pci/devices', quote: `no ${address}` },
      ],
    },
  ]);
});

test('tells that the only GPU is gone from the bus: the driver does not load without one', async () => {
  const loaded: Changes = { files: { '/proc/modules': (text) => `nvidia 11587584 0 - Live 0x0\n${text}` } };
  const host = await observeChanged('no-gpu', loaded);
  expect(host.of(code)).toMatchObject([
    {
      subject: null,
      severity: 'critical',
      evidence: [{ source: 'file:/proc/modules' }, { source: 'file:/sys/bus/pci/devices', quote: 'no NVIDIA GPU' }],
      person: expect.stringContaining('virtual machine'),
    },
  ]);
  const inside = await observeChanged('no-gpu', loaded, { files: { '/.dockerenv': '' } });
  expect(inside.of(code)).toEqual([]);
  expect(inside.untold(code)).toContain('container');
});

test('it is known although nvidia-smi does not come back', async () => {
  const host = await observeChanged(
    two,
    kernelSays('NVRM: Xid (PCI:0000:42:00): 79, GPU has fallen off the bus.'),
    smiSays({ timedOut: true }),
  );
  expect(host.of(code)).toMatchObject([{ subject: device }]);
  expect(host.untold(code)).toBeNull();
});

test('what was before the driver was loaded again is history, and a GPU of another driver is not counted', async () => {
  const xid = 'NVRM: Xid (PCI:0000:42:00): 79, GPU has fallen off the bus.';
  expect((await observeChanged(two, kernelSaid(xid))).of(code)).toEqual([]);
  const vfio = { link: '../../../bus/pci/drivers/vfio-pci' };
  const passed = await observeChanged(two, withoutGpu(address), {
    files: { [`/sys/devices/pci0000:00/${address}/driver`]: vfio },
  });
  expect(passed.of(code)).toEqual([]);
});

test('a GPU that could not be initialised has not fallen off', async () => {
  const host = await observeChanged(
    two,
    kernelSays('NVRM: GPU 0000:42:00.0: RmInitAdapter failed! (0x22:0x56:884)'),
    withoutGpu(address),
  );
  expect(host.of(code)).toEqual([]);
  expect(host.causes()).toEqual(['GPU_INIT_FAILED']);
});

test('cannot tell from a report that is cut or that does not come', async () => {
  const cut = await observeChanged(two, withoutGpu(address), {
    commands: { [smiXml]: (xml) => xml.replace(/<attached_gpus>\d+/, '<attached_gpus>2') },
  });
  expect(cut.of(code)).toEqual([]);
  expect(cut.untold(code)).toContain('the report is cut');
  expect((await observeChanged(two, smiSays({ timedOut: true }))).untold(code)).toContain('timed_out');
  expect((await observeChanged(two, kernelLogDenied)).untold(code)).toBeNull();
});
