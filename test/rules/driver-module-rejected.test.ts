import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { journal, kernelLogDenied, kernelSays, smiSays } from './kernel-log-changes.ts';

const code = 'DRIVER_MODULE_REJECTED';
const one = 'x86-docker';
const secureBoot = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';
const refused = 'Loading of module with unavailable key is rejected';
const withSecureBoot: Changes = { files: { [secureBoot]: '\u0006\0\0\0\u0001' } };
/** As after a boot in which the module was not taken. */
const notLoaded: Changes = {
  files: {
    '/proc/modules': (modules) => modules.replace(/^nvidia.*\n/gm, ''),
    '/proc/driver/nvidia/version': null,
    '/sys/devices/pci0000:00/0000:14:00.0/driver': null,
  },
};
const withoutLoad: Changes = { commands: { [journal]: (log) => log.replace(/^.*(NVRM|nvidia).*\n/gm, '') } };
const noDriver = smiSays({
  exitCode: 9,
  stdout: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
});

test.each([
  refused,
  'Loading of unsigned module is rejected',
  'Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7',
])('tells that Secure Boot refuses the module: %s', async (text) => {
  const host = await observeChanged(one, withoutLoad, kernelSays(text), notLoaded, withSecureBoot, noDriver);
  expect(host.of(code)).toMatchObject([
    {
      subject: null,
      severity: 'blocker',
      evidence: [
        { source: `command:${journal}`, quote: text },
        { source: `file:${secureBoot}`, quote: expect.stringContaining('Secure Boot is on') },
        { source: 'command:modinfo -F version nvidia', quote: '550.163.01' },
        { source: 'file:/proc/modules', quote: 'no module nvidia' },
      ],
      remedy: null,
      person: expect.stringContaining('mokutil'),
    },
  ]);
});

const says = kernelSays(refused);
const taints = kernelSays(
  'nvidia: module verification failed: signature and/or required key missing - tainting kernel',
);
const noModule: Changes = {
  commands: { 'modinfo -F version nvidia': { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
};

test.each([
  ['with Secure Boot off', [withoutLoad, says, notLoaded, noDriver]],
  ['without a refusal', [withoutLoad, notLoaded, withSecureBoot, noDriver]],
  ['when the module was only not verified', [withoutLoad, taints, notLoaded, withSecureBoot, noDriver]],
  ['when the module is loaded', [says, withSecureBoot]],
  ['when there is no module', [withoutLoad, says, notLoaded, withSecureBoot, noDriver, noModule]],
])('is silent %s', async (_, changes) => {
  expect((await observeChanged(one, ...changes)).of(code)).toEqual([]);
});

test('cannot tell without the log', async () => {
  expect((await observeChanged(one, kernelLogDenied, notLoaded, noDriver)).untold(code)).toContain('denied');
});

test('quotes mokutil where the firmware’s variable cannot be read, and cannot tell without both', async () => {
  const unreadable: Changes = { files: { [secureBoot]: { text: '', as: { error: 'EACCES' } } } };
  const told = await observeChanged(one, withoutLoad, says, notLoaded, noDriver, unreadable, {
    commands: { 'mokutil --sb-state': 'SecureBoot enabled\n' },
  });
  expect(told.of(code)[0]?.evidence).toContainEqual({
    source: 'command:mokutil --sb-state',
    quote: 'SecureBoot enabled',
  });
  const untold = await observeChanged(one, withoutLoad, says, notLoaded, noDriver, unreadable, { absent: ['mokutil'] });
  expect(untold.of(code)).toEqual([]);
  expect(untold.untold(code)).toContain('whether Secure Boot is on is not known');
});
