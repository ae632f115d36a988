import { expect, test } from 'vitest';
import { collectOn, type FakeHostParts } from '../testing/fake-reader.ts';
import { osProbe } from './index.ts';

const base = {
  '/etc/os-release': 'ID=debian\n',
  '/proc/sys/kernel/hostname': 'host-1\n',
  '/proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
  '/proc/meminfo': 'MemTotal: 1 kB\n',
};
const bare = 'processor\t: 0\nflags\t\t: fpu lm avx\n';
const guest = 'processor\t: 0\nflags\t\t: fpu lm hypervisor avx\n';
const arm = 'processor\t: 0\nCPU architecture: 8\n';
const dmi = '/sys/class/dmi/id';
const clocks = '/sys/devices/system/clocksource/clocksource0/available_clocksource';

async function virtualisationOn(
  cpuInfo: string,
  files: FakeHostParts['files'],
  commands: FakeHostParts['commands'] = {},
) {
  const { value, reader } = await collectOn(osProbe, {
    files: { ...base, '/proc/cpuinfo': cpuInfo, ...files },
    commands,
  });
  return { word: value?.virtualisation, inside: value?.insideContainer, asked: reader.reads.commands.length };
}

test.each([
  ['an unprivileged LXC guest', guest, { '/run/systemd/container': 'lxc' }, 'lxc', true],
  ['LXC without systemd', guest, { '/proc/1/cgroup': '0::/lxc/101/init.scope\n' }, 'lxc', true],
  ['docker on a virtual machine', guest, { '/.dockerenv': '', [clocks]: 'tsc kvm-clock\n' }, 'docker', true],
  ['podman', bare, { '/run/.containerenv': '' }, 'podman', true],
  ['a pod', guest, { '/proc/1/cgroup': '4:cpu:/kubepods/besteffort/pod1\n' }, 'container-other', true],
  ['WSL by its kernel', guest, { '/proc/sys/kernel/osrelease': '5.15.153.1-microsoft-standard-WSL2\n' }, 'wsl', false],
  ['WSL with another kernel', guest, { '/proc/sys/fs/binfmt_misc/WSLInterop': 'enabled\n' }, 'wsl', false],
  ['KVM by its clock', guest, { [`${dmi}/sys_vendor`]: 'QEMU\n', [clocks]: 'kvm-clock tsc\n' }, 'kvm', false],
  ['a cloud instance', guest, { [`${dmi}/sys_vendor`]: 'Amazon EC2\n', [clocks]: 'kvm-clock\n' }, 'amazon', false],
  ['a whole machine of a cloud', bare, { [`${dmi}/sys_vendor`]: 'Amazon EC2\n' }, 'none', false],
  ['Hyper-V', guest, { [`${dmi}/product_name`]: 'Virtual Machine\n' }, 'microsoft', false],
  ['VMware', guest, { [`${dmi}/sys_vendor`]: 'VMware, Inc.\n' }, 'vmware', false],
  ['a server', bare, { [`${dmi}/sys_vendor`]: 'Example Corp\n' }, 'none', false],
  ['a Jetson', arm, { '/proc/device-tree/compatible': 'nvidia,tegra234\0' }, 'none', false],
  ['KVM on ARM', arm, { '/proc/device-tree/hypervisor/compatible': 'linux,kvm\0' }, 'kvm', false],
])('%s is known by its files alone', async (_, cpuInfo, files, word, inside) => {
  expect(await virtualisationOn(cpuInfo, files)).toEqual({ word, inside, asked: 0 });
});

test('asks systemd where the files do not tell, and knows nothing without it', async () => {
  const asked = await virtualisationOn(guest, {}, { 'systemd-detect-virt': 'vm-other\n' });
  expect(asked).toMatchObject({ word: 'vm-other', asked: 1 });
  const none = await virtualisationOn(arm, {}, { 'systemd-detect-virt': { exitCode: 1, stdout: 'none\n' } });
  expect(none.word).toBe('none');
  expect((await virtualisationOn(guest, {})).word).toBeNull();
  expect((await virtualisationOn(guest, {}, { 'systemd-detect-virt': 'Usage: …\n' })).word).toBeNull();
});
