import type { Machine } from '../machine.ts';
import { installUnit } from './base.ts';
import { libraryFolder } from './nvidia.ts';

/** From 1.18 the toolkit brings a service that writes a CDI specification at boot and after an upgrade. */
export function installCdi(machine: Machine): void {
  const { files } = machine;
  files.put('/proc/self/uid_map', () => '         0          0 4294967295\n');
  const [major = 0, minor = 0] = machine.versions.toolkit.split('.').map(Number);
  if (!files.has('/usr/bin/nvidia-ctk') || major < 1 || (major === 1 && minor < 18)) return;
  const version = machine.driver?.library ?? '';
  const library = `${libraryFolder(machine)}/libcuda.so.${version}`;
  if (!files.has(library)) files.put(library, '\u007fELF');
  files.put('/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env', '# NVIDIA_CTK_CDI_GENERATE_MODE=auto\n');
  installUnit(machine, {
    name: 'nvidia-cdi-refresh.service',
    description: 'Refresh NVIDIA CDI specification file',
    exec: '/usr/bin/nvidia-ctk cdi generate',
    type: 'oneshot',
  });
  installUnit(machine, {
    name: 'nvidia-cdi-refresh.path',
    description: 'Trigger CDI refresh on NVIDIA driver install / uninstall events',
    exec: '',
  });
}
