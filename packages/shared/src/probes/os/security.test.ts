import { expect, test } from 'vitest';
import { collectOn, type FakeHostParts } from '../testing/fake-reader.ts';
import { osProbe } from './index.ts';
import {
  parseEfiFlag,
  parseLockdown,
  parseMokutil,
  parseScheduledReboot,
  parseUidMap,
} from './parse-security-files.ts';

const base = {
  '/etc/os-release': 'ID=debian\n',
  '/proc/sys/kernel/hostname': 'host-1\n',
  '/proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
  '/proc/meminfo': 'MemTotal: 1 kB\n',
  '/proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu lm avx\n',
};
const variables = '/sys/firmware/efi/efivars';
const secureBoot = `${variables}/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c`;
const setupMode = `${variables}/SetupMode-8be4df61-93ca-11d2-aa0d-00e098032b8c`;
const shim = `${variables}/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23`;
const flag = (value: number) => `\u0006\0\0\0${String.fromCharCode(value)}`;

const collect = (files: FakeHostParts['files'], commands: FakeHostParts['commands'] = {}) =>
  collectOn(osProbe, { files: { ...base, ...files }, commands });

test.each([
  ['switched on', { [secureBoot]: flag(1) }, true],
  ['switched off', { [secureBoot]: flag(0) }, false],
  ['in setup mode', { [secureBoot]: flag(1), [setupMode]: flag(1) }, false],
  ['overruled in shim', { [secureBoot]: flag(1), [setupMode]: flag(0), [shim]: flag(1) }, false],
  ['on a machine without UEFI', {}, false],
])('Secure Boot %s', async (_, files, expected) => {
  const { value, partial } = await collect(files);
  expect(value?.secureBoot).toBe(expected);
  expect(partial).toEqual([]);
});

test('asks mokutil where the variables cannot be read, and says so when it does not know either', async () => {
  const files = { '/sys/firmware/efi/': '' };
  const asked = await collect(files, { 'mokutil --sb-state': 'SecureBoot enabled\n' });
  expect(asked.value?.secureBoot).toBe(true);
  const unsupported = { exitCode: 255, stderr: 'EFI variables are not supported on this system\n' };
  const unknown = await collect({ [secureBoot]: { fails: 'denied' } }, { 'mokutil --sb-state': unsupported });
  expect(unknown.value?.secureBoot).toBeNull();
  expect(unknown.partial).toEqual([{ path: 'secureBoot', because: 'unexpected_text' }]);
  expect((await collect(files)).partial).toEqual([{ path: 'secureBoot', because: 'absent' }]);
});

test('reads what else guards the kernel', async () => {
  const { value } = await collect({
    '/sys/kernel/security/lockdown': 'none [integrity] confidentiality\n',
    '/sys/fs/selinux/enforce': '1',
    '/proc/self/uid_map': '         0     100000      65536\n',
    '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
    '/run/systemd/shutdown/scheduled': 'USEC=1800000600000000\nWARN_WALL=1\nMODE=reboot\n',
  });
  expect(value).toMatchObject({
    lockdown: 'integrity',
    selinux: 'enforcing',
    inUserNamespace: true,
    cgroupVersion: 2,
    rebootScheduledAtMs: 1_800_000_600_000,
  });
  const old = await collect({ '/sys/fs/cgroup/memory/tasks': '', '/sys/fs/selinux/enforce': { fails: 'denied' } });
  expect(old.value).toMatchObject({ cgroupVersion: 1, selinux: null });
  expect(old.partial).toEqual([{ path: 'selinux', because: 'denied' }]);
});

test.each(['', '\u0006\0\0\0', '\u0006\0\0\0\u0002', `${flag(1)}x`, '\u0006\0\0\0\uFFFD'])(
  'a variable of another shape says nothing: %j',
  (text) => expect(parseEfiFlag(text)).toBeNull(),
);

test('takes nothing for an answer that is none', () => {
  expect(parseMokutil('SecureBoot enabled\nSecureBoot validation is disabled in shim\n')).toBe(false);
  expect(parseMokutil("This system doesn't support Secure Boot\n")).toBe(false);
  expect(parseMokutil('mokutil: option --sb-state\n')).toBeNull();
  expect(parseLockdown('none integrity confidentiality')).toBeNull();
  expect(parseUidMap('0 0 4294967295\n')).toBe(false);
  expect(parseUidMap('0 0 1000\n1000 1001 1\n')).toBe(true);
  expect(parseUidMap('garbage')).toBeNull();
  expect(parseScheduledReboot('USEC=1\nMODE=poweroff\n')).toBeNull();
});
