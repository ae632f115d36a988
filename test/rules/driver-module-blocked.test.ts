import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { boundTo, notLoaded, notOnDisk, removed } from './driver-changes.ts';

const code = 'DRIVER_MODULE_BLOCKED';
const file = '/etc/modprobe.d/zz-local.conf';
const blocked = (text: string): Changes => ({ files: { [file]: text } });

test.each([
  ['# no GPU here\ninstall nvidia /bin/false\n', 'line 2'],
  ['install nvidia /usr/bin/true\n', 'line 1'],
  ['blacklist nvidia\n', 'line 1'],
  ['alias nvidia off\n', 'line 1'],
])('names the file and the line that keep the module out: %j', async (text, line) => {
  const host = await observeChanged('x86-docker', notLoaded, blocked(text));
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${file}`,
      severity: 'blocker',
      summary: expect.stringContaining(`${line} of ${file}`),
      evidence: [{ source: `file:${file}` }],
      remedy: null,
    },
  ]);
  expect(host.causes()).toEqual([code]);
});

test("names the kernel's command line", async () => {
  const host = await observeChanged('x86-docker', notLoaded, {
    files: { '/proc/cmdline': 'root=/dev/sda2 module_blacklist=nouveau,nvidia quiet\n' },
  });
  expect(host.of(code)).toMatchObject([
    { evidence: [{ source: 'file:/proc/cmdline', quote: 'module_blacklist=nouveau,nvidia' }] },
  ]);
});

test('what nouveau and missing unified memory come of is the block', async () => {
  const nouveau = await observeChanged('x86-docker', notLoaded, blocked('blacklist nvidia\n'), boundTo('nouveau'));
  expect(nouveau.causes()).toEqual([code]);
  const uvm = await observeChanged('x86-docker', blocked('install nvidia-uvm /bin/false\n'), {
    files: { '/proc/modules': (text) => text.replace(/^nvidia_uvm.*\n/, ''), '/dev/nvidia-uvm': null },
  });
  expect(uvm.causes()).toEqual([code]);
  expect(uvm.of('UVM_OR_DEVICE_NODES_MISSING')[0]?.consequenceOf?.code).toBe(code);
});

test.each<[string, Changes[]]>([
  ['the module is loaded all the same', [blocked('blacklist nvidia\n')]],
  ['the line loads another file', [notLoaded, blocked('install nvidia modprobe -i nvidia-current $CMDLINE_OPTS\n')]],
  ['the line is a comment', [notLoaded, blocked('# install nvidia /bin/false\n')]],
  ['only nouveau is meant', [notLoaded, blocked('blacklist nouveau\n')]],
  ['there is no module on disk', [notLoaded, notOnDisk, removed, blocked('blacklist nvidia\n')]],
  ['the GPUs are held for guests', [notLoaded, blocked('blacklist nvidia\n'), boundTo('vfio-pci')]],
  ['the GPUs are to be held for guests', [notLoaded, blocked('blacklist nvidia\noptions vfio-pci ids=10de:1eb8\n')]],
  [
    "an administrator's empty file takes the place of the distribution's",
    [notLoaded, { files: { '/usr/lib/modprobe.d/zz-local.conf': 'blacklist nvidia\n', [file]: '' } }],
  ],
])('is silent when %s', async (_, changes) => {
  expect((await observeChanged('x86-docker', ...changes)).of(code)).toEqual([]);
});

test('cannot tell when the configuration could not be read', async () => {
  const host = await observeChanged('x86-docker', notLoaded, {
    files: { [file]: { text: '', as: { error: 'EACCES' } } },
  });
  expect(host.untold(code)).toContain('denied');
});
