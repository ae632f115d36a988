import { information } from './classes/driver.ts';
import type { Machine } from './machine.ts';

/** What the kernel shows of the driver while `nvidia` is loaded. */
export function showDriver(machine: Machine): void {
  const { files } = machine;
  const toolchain = 'gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)';
  files.put('/proc/driver/nvidia/version', () => {
    const { loaded, flavour } = machine.driver ?? {};
    const module =
      flavour === 'open'
        ? `NVIDIA UNIX Open Kernel Module for ${machine.os.arch}`
        : `NVIDIA UNIX ${machine.os.arch} Kernel Module`;
    return `NVRM version: ${module}  ${loaded}  Release Build  (builder@example.com)  Thu Apr 24 00:00:00 UTC 2025\nGCC version:  ${toolchain}\n`;
  });
  files.put('/sys/module/nvidia/version', () => `${machine.driver?.loaded}\n`);
  for (const gpu of machine.gpus.filter(({ busId }) => busId !== 'N/A')) {
    const address = gpu.busId.slice(4).toLowerCase();
    files.put(`/proc/driver/nvidia/gpus/${address}/information`, () => information(machine, gpu, address));
    files.putDir('/sys/bus/pci/drivers/nvidia');
    files.putLink(`/sys/devices/pci0000:00/${address}/driver`, '../../../bus/pci/drivers/nvidia');
  }
}

function hideDriver(machine: Machine): void {
  const { files } = machine;
  for (const path of ['/proc/driver/nvidia', '/sys/module/nvidia']) files.remove(path);
  for (const { busId } of machine.gpus) files.remove(`/sys/devices/pci0000:00/${busId.slice(4).toLowerCase()}/driver`);
}

const needs: Record<string, readonly string[]> = {
  nvidia_uvm: ['nvidia'],
  nvidia_modeset: ['nvidia'],
  nvidia_drm: ['nvidia_modeset', 'nvidia'],
  nvidia_peermem: ['nvidia'],
  mlx5_ib: ['mlx5_core'],
};

/** With what it leans on; says nothing of whether the kernel takes it. */
export function insertModule(machine: Machine, name: string): void {
  for (const one of [...(needs[name] ?? []), name]) {
    if (machine.modules.has(one)) continue;
    machine.modules.add(one);
    if (one !== 'nvidia' || !machine.driver) continue;
    machine.driver.loaded = machine.driver.onDisk;
    showDriver(machine);
  }
}

export function usersOf(machine: Machine, name: string): string[] {
  return Object.keys(needs).filter((other) => machine.modules.has(other) && needs[other]?.includes(name));
}

export function ejectModule(machine: Machine, name: string): void {
  machine.modules.delete(name);
  if (name !== 'nvidia' || !machine.driver) return;
  machine.driver.loaded = null;
  hideDriver(machine);
}

/** /dev is made anew: a node is there when its module is, and links when somebody's rule makes them. */
export function bootModules(machine: Machine): void {
  if (!machine.driver) return;
  for (const name of [...machine.modules]) ejectModule(machine, name);
  for (const name of [...machine.modulesOfBoot, ...listed(machine)]) insertModule(machine, name);
  if (machine.gpus.some(({ model }) => model.kind !== 'discrete')) return;
  const { files } = machine;
  for (const name of ['nvidia-uvm', 'nvidia-uvm-tools']) files.remove(`/dev/${name}`);
  if (!machine.modules.has('nvidia')) for (const path of gpuNodes(machine)) files.remove(path);
  makeNodes(machine, { gpus: machine.modules.has('nvidia'), uvm: machine.modules.has('nvidia_uvm') });
  const rules = files.list('/etc/udev/rules.d');
  const hasRule = rules.ok && rules.value.some(({ name }) => /nvidia-dev-char/.test(name));
  if (machine.linksNodes || hasRule) linkAll(machine);
  else unlinkAll(machine);
}

function listed({ files }: Machine): string[] {
  const folder = files.list('/etc/modules-load.d');
  return (folder.ok ? folder.value : []).flatMap(({ name }) =>
    (files.text(`/etc/modules-load.d/${name}`) ?? '').split('\n').filter((line) => /^[a-z]/.test(line)),
  );
}

export function gpuNodes({ gpus }: Machine): string[] {
  return ['/dev/nvidiactl', ...gpus.filter(({ busId }) => busId !== 'N/A').map(({ minor }) => `/dev/nvidia${minor}`)];
}

export function makeNodes(machine: Machine, { gpus, uvm }: { gpus: boolean; uvm: boolean }): void {
  const { files } = machine;
  const make = (path: string, major: number, minor: number) => {
    if (!files.has(path)) files.putSpecial(path, 'char', { major, minor });
  };
  if (gpus) {
    make('/dev/nvidiactl', 195, 255);
    for (const gpu of machine.gpus) if (gpu.busId !== 'N/A') make(`/dev/nvidia${gpu.minor}`, 195, gpu.minor);
  }
  if (uvm) {
    make('/dev/nvidia-uvm', 510, 0);
    make('/dev/nvidia-uvm-tools', 510, 1);
  }
}

/** Every node that is there, and those of each GPU that could be. */
export function linkAll(machine: Machine): void {
  const { files } = machine;
  const link = (number: string, name: string) => {
    if (!files.find(`/dev/char/${number}`, false).ok) files.putLink(`/dev/char/${number}`, `../${name}`);
  };
  for (const gpu of machine.gpus) if (gpu.busId !== 'N/A') link(`195:${gpu.minor}`, `nvidia${gpu.minor}`);
  link('195:255', 'nvidiactl');
  link('510:0', 'nvidia-uvm');
  link('510:1', 'nvidia-uvm-tools');
}

export function unlinkAll({ files }: Machine): void {
  const found = files.list('/dev/char');
  for (const { name } of found.ok ? found.value : []) if (/^(?:195|510):/.test(name)) files.remove(`/dev/char/${name}`);
}
