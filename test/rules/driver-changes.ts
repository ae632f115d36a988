import type { Changes } from './changed-host.ts';

/** What the recorded x86-docker is: one T4 with a driver that DKMS built. */
export const kernel = '6.8.0-60-generic';
export const older = '6.8.0-40-generic';
export const version = '550.163.01';
export const gpu = '0000:14:00.0';
export const modinfo = 'modinfo -F version nvidia';
export const library = '/usr/lib/x86_64-linux-gnu';
const driverLink = `/sys/devices/pci0000:00/${gpu}/driver`;
export const dkms = `/var/lib/dkms/nvidia/${version}`;

const withoutNvidia = (text: string) =>
  text
    .split('\n')
    .filter((line) => !/^(nvidia|\s*\d+ nvidia)/.test(line))
    .join('\n');

/** The module is not in the kernel: nothing holds the GPU and nothing made nodes. */
export const notLoaded: Changes = {
  files: {
    '/proc/modules': withoutNvidia,
    '/proc/devices': withoutNvidia,
    '/proc/driver/nvidia': null,
    [driverLink]: null,
    '/dev/nvidia0': null,
    '/dev/nvidiactl': null,
    '/dev/nvidia-uvm': null,
    '/dev/nvidia-uvm-tools': null,
    '/dev/nvidia-caps': null,
  },
  commands: {
    'nvidia-smi -q -x': {
      exitCode: 9,
      stdout:
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n",
    },
  },
};

/** No nvidia module for the running kernel on the disk. */
export const notOnDisk: Changes = {
  files: {
    [`/usr/lib/modules/${kernel}/updates`]: null,
    [`${dkms}/${kernel}`]: null,
    [`/var/lib/dkms/nvidia/kernel-${kernel}-x86_64`]: null,
  },
  commands: { [modinfo]: { exitCode: 1, stderr: 'modinfo: ERROR: Module nvidia not found.\n' } },
};

/** Nothing of the driver is left. */
export const removed: Changes = {
  files: {
    '/var/lib/dkms': null,
    [`${library}/libnvidia-ml.so.1`]: null,
    [`${library}/libnvidia-ml.so.${version}`]: null,
    '/usr/bin/nvidia-smi': null,
  },
  absent: ['nvidia-smi'],
};

/** Something else than nvidia is bound to the GPU. */
export const boundTo = (driver: string): Changes => ({
  files: { [driverLink]: { link: `../../../bus/pci/drivers/${driver}` } },
});

export const otherLibrary = (other: string): Changes => ({
  files: {
    [`${library}/libnvidia-ml.so.${version}`]: null,
    [`${library}/libnvidia-ml.so.${other}`]: '\u007fELF',
    [`${library}/libnvidia-ml.so.1`]: { link: `libnvidia-ml.so.${other}` },
  },
});
