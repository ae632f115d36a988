import type { Machine } from '../machine.ts';
import { installProgram } from './base.ts';
import { installLibrary } from './nvidia.ts';

export interface Board {
  model: string;
  compatible: readonly string[];
  /** First line of /etc/nv_tegra_release. */
  release: string;
  l4tPackage: string;
}

export const boards = {
  orin: {
    model: 'NVIDIA Jetson AGX Orin Developer Kit',
    compatible: ['nvidia,p3737-0000+p3701-0005', 'nvidia,p3701-0005', 'nvidia,tegra234'],
    release:
      '# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025',
    l4tPackage: '36.4.3-20250107174145',
  },
  thor: {
    model: 'NVIDIA Jetson AGX Thor Developer Kit',
    compatible: ['nvidia,p4071-0000+p3834-0008', 'nvidia,p3834-0008', 'nvidia,tegra264'],
    release:
      '# R38 (release), REVISION: 2.0, GCID: 41844464, BOARD: generic, EABI: aarch64, DATE: Fri Aug 22 00:55:42 UTC 2025',
    l4tPackage: '38.2.0-20250821174705',
  },
} as const satisfies Record<string, Board>;

/** What makes a machine a Jetson: the release file, the device tree and the files that csv mode mounts. */
export function installBoard(machine: Machine, board: Board): void {
  const { files } = machine;
  files.put(
    '/etc/nv_tegra_release',
    `${board.release}\n# KERNEL_VARIANT: oot\nTARGET_USERSPACE_LIB_DIR=nvidia\nTARGET_USERSPACE_LIB_DIR_PATH=usr/lib/aarch64-linux-gnu/nvidia\nINSTALL_TYPE=\n`,
  );
  // Device-tree strings end with NUL.
  files.put('/sys/firmware/devicetree/base/model', () => `${board.model}\0`);
  files.put('/sys/firmware/devicetree/base/compatible', () => board.compatible.map((one) => `${one}\0`).join(''));
  files.putLink('/proc/device-tree', '/sys/firmware/devicetree/base');
  files.put('/sys/devices/soc0/family', () => 'Tegra\n');
  files.put(
    '/var/lib/dpkg/status',
    `Package: nvidia-l4t-core\nStatus: install ok installed\nArchitecture: arm64\nVersion: ${board.l4tPackage}\n\n`,
  );
  const csv = '/etc/nvidia-container-runtime/host-files-for-container.d';
  files.put(
    `${csv}/l4t.csv`,
    'lib, /usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1.1\nsym, /usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1\n',
  );
  files.put(`${csv}/devices.csv`, 'dev, /dev/nvmap\ndev, /dev/nvhost-ctrl\n');
  files.put(`${csv}/drivers.csv`, 'lib, /usr/lib/aarch64-linux-gnu/nvidia/libnvidia-ml.so.1\n');
  files.putSpecial('/dev/nvmap', 'char', { major: 10, minor: 120 }, { mode: 0o660, gid: 44 });
  files.putSpecial('/dev/nvhost-ctrl', 'char', { major: 503, minor: 0 }, { mode: 0o660, gid: 44 });
  for (const program of ['tegrastats', 'nvpmodel']) installProgram(machine, `/usr/bin/${program}`);
}

/** On JetPack 6 the library is one plain file without a version in its name. */
export function installPlainLibrary(machine: Machine): void {
  const general = '/usr/lib/aarch64-linux-gnu';
  for (const name of ['libnvidia-ml.so', 'libnvidia-ml.so.1']) machine.files.remove(`${general}/${name}`);
  machine.files.remove(`${general}/libnvidia-ml.so.${machine.driver?.library}`);
  machine.files.put(`${general}/nvidia/libnvidia-ml.so.1`, '\u007fELF');
}

export function installVersionedLibrary(machine: Machine): void {
  const general = '/usr/lib/aarch64-linux-gnu';
  for (const name of ['libnvidia-ml.so', 'libnvidia-ml.so.1', `libnvidia-ml.so.${machine.driver?.library}`]) {
    machine.files.remove(`${general}/${name}`);
  }
  installLibrary(machine, `${general}/nvidia`, machine.driver?.library ?? '');
}
