import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';
import { installPciDevice } from './nvidia.ts';

/** An HGX board: four NVSwitches and the manager that must be of exactly the driver's version. */
export function installFabric(machine: Machine): void {
  const { files } = machine;
  machine.nvswitches = [5, 6, 7, 8].map((bus) => `0000:0${bus}:00.0`);
  for (const [minor, address] of machine.nvswitches.entries()) {
    installPciDevice(machine, {
      address,
      vendor: '0x10de',
      device: '0x22a3',
      classCode: '0x068000',
      driver: 'nvidia-nvswitch',
    });
    files.putDir(`/proc/driver/nvidia-nvswitch/devices/${address}`);
    files.putSpecial(`/dev/nvidia-nvswitch${minor}`, 'char', { major: 508, minor });
  }
  files.putSpecial('/dev/nvidia-nvswitchctl', 'char', { major: 508, minor: 255 });
  for (const gpu of machine.gpus) gpu.fabric = 'in_progress';
  machine.versions.fabricManager = machine.driver?.onDisk ?? '';
  installProgram(machine, '/usr/bin/nv-fabricmanager');
  installUnit(machine, {
    name: 'nvidia-fabricmanager.service',
    description: 'NVIDIA fabric manager service',
    exec: '/usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg',
    type: 'forking',
  });
}
