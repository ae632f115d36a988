import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';

/** A disk with the folders of the engines that are here, a clock with a battery and a service that sets it. */
export function installStorageAndTime(machine: Machine): void {
  const { files } = machine;
  for (const program of ['df', 'timedatectl']) installProgram(machine, `/usr/bin/${program}`);
  files.putDir('/sys/class/rtc/rtc0');
  installUnit(machine, {
    name: 'systemd-timesyncd.service',
    description: 'Network Time Synchronization',
    exec: '!!/usr/lib/systemd/systemd-timesyncd',
  });
  const folders = [
    ['/usr/bin/dockerd', '/var/lib/docker'],
    ['/usr/bin/containerd', '/var/lib/containerd'],
    ['/usr/bin/kubelet', '/var/lib/kubelet'],
    ['/usr/local/bin/k3s', '/var/lib/kubelet'],
  ] as const;
  for (const [program, folder] of folders) if (files.has(program)) files.putDir(folder);
  files.putDir('/var/lib/gpufleet', { mode: 0o700 });
}
