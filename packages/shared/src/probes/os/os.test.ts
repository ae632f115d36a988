import { expect, test } from 'vitest';
import { collectOn } from '../testing/fake-reader.ts';
import { osProbe } from './index.ts';

const files = {
  '/etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n# comment\n',
  '/proc/sys/kernel/hostname': 'host-1\n',
  '/proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
  '/proc/cpuinfo': 'processor\t: 0\nflags\t\t: fpu lm avx\n\nprocessor\t: 1\nflags\t\t: fpu lm avx\n',
  '/proc/meminfo': 'MemTotal:       16314984 kB\nMemFree:         1 kB\n',
};

test('reads the system from files alone', async () => {
  const { value, partial } = await collectOn(osProbe, { files });
  expect(partial).toEqual([]);
  expect(value).toEqual({
    bootId: 'boot-1',
    bootedAtMs: 1_799_999_940_000,
    id: 'debian',
    versionId: '12',
    prettyName: 'Debian GNU/Linux 12 (bookworm)',
    hostname: 'host-1',
    kernel: '6.1.0-18-amd64',
    arch: 'x86_64',
    cpuCount: 2,
    memoryTotalMiB: 15932,
    insideContainer: false,
    virtualisation: 'none',
    inUserNamespace: null,
    secureBoot: false,
    secureBootFrom: null,
    lockdown: null,
    selinux: 'disabled',
    cgroupVersion: null,
    rebootScheduledAtMs: null,
  });
});

test('takes the kernel at its word where it names the architecture', async () => {
  const cpuinfo = 'processor\t: 0\nCPU architecture: 8\n';
  const arm = await collectOn(osProbe, { files: { ...files, '/proc/cpuinfo': cpuinfo } });
  expect(arm.value?.arch).toBe('aarch64');
  const named = await collectOn(osProbe, { files: { ...files, '/proc/sys/kernel/arch': 'riscv64\n' } });
  expect(named.value?.arch).toBe('riscv64');
});

test('says which parts could not be read', async () => {
  const { value, partial } = await collectOn(osProbe, {
    files: { ...files, '/proc/meminfo': { fails: 'denied' }, '/.dockerenv': '' },
  });
  expect(value).toMatchObject({ memoryTotalMiB: null, insideContainer: true });
  expect(partial).toEqual([{ path: 'memoryTotalMiB', because: 'denied' }]);
});

test.each([
  ['0::/\n', false],
  ['12:pids:/docker/0123\n', true],
  ['4:cpu:/kubepods/besteffort/pod1\n', true],
])('tells by the first process whether it is inside a container: %j', async (cgroup, inside) => {
  const { value } = await collectOn(osProbe, { files: { ...files, '/proc/1/cgroup': cgroup } });
  expect(value?.insideContainer).toBe(inside);
});
