import type { Machine } from '../machine.ts';
import { installProgram } from './base.ts';
import { installLibrary } from './nvidia.ts';

export interface Board {
  model: string;
  compatible: readonly string[];
  /** First line of /etc/nv_tegra_release. */
  release: string;
  l4tPackage: string;
  jetpackPackage: string;
  powerModes: readonly string[];
  powerMode: number;
  /** By mode: which parts of the GPU are without power. */
  tpcMasks: readonly number[];
  /** NVIDIA's kernel for Orin is built without the table. */
  hasRawTable: boolean;
}

export const boards = {
  orin: {
    model: 'NVIDIA Jetson AGX Orin Developer Kit',
    compatible: ['nvidia,p3737-0000+p3701-0005', 'nvidia,p3701-0005', 'nvidia,tegra234'],
    release:
      '# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025',
    l4tPackage: '36.4.3-20250107174145',
    jetpackPackage: '6.2+b77',
    powerModes: ['MAXN', 'MODE_15W', 'MODE_30W', 'MODE_50W'],
    powerMode: 2,
    tpcMasks: [0, 252, 0, 0],
    hasRawTable: false,
  },
  thor: {
    model: 'NVIDIA Jetson AGX Thor Developer Kit',
    compatible: ['nvidia,p4071-0000+p3834-0008', 'nvidia,p3834-0008', 'nvidia,tegra264'],
    release:
      '# R38 (release), REVISION: 2.0, GCID: 41844464, BOARD: generic, EABI: aarch64, DATE: Fri Aug 22 00:55:42 UTC 2025',
    l4tPackage: '38.2.0-20250821174705',
    jetpackPackage: '7.0-b128',
    powerModes: ['MAXN', '120W', '90W', '70W'],
    powerMode: 1,
    tpcMasks: [0, 0, 0, 240],
    hasRawTable: true,
  },
} as const satisfies Record<string, Board>;

function modeText(name: string, id: number, tpcMask: number): string {
  return `\n< POWER_MODEL ID=${id} NAME=${name} >\nCPU_ONLINE CORE_0 1\nTPC_POWER_GATING TPC_PG_MASK ${tpcMask}\n`;
}

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
  machine.powerMode = board.powerMode;
  files.put('/var/lib/nvpmodel/status', `pmode:${String(board.powerMode).padStart(4, '0')}\n`);
  files.put(
    '/etc/nvpmodel/nvpmodel_board.conf',
    `# Modes of this board\n${board.powerModes.map((name, id) => modeText(name, id, board.tpcMasks[id] ?? 0)).join('')}\n< PM_CONFIG DEFAULT=${board.powerMode} >\n`,
  );
  files.putLink('/etc/nvpmodel.conf', '/etc/nvpmodel/nvpmodel_board.conf');
  const modules = `/lib/modules/${machine.os.kernel}`;
  const raw = board.hasRawTable ? ['kernel/net/ipv4/netfilter/iptable_raw.ko: kernel/net/netfilter/x_tables.ko'] : [];
  const listed = ['kernel/net/ipv4/netfilter/iptable_nat.ko: kernel/net/netfilter/x_tables.ko', ...raw];
  files.put(`${modules}/modules.dep`, `${listed.join('\n')}\n`);
  files.put(`${modules}/modules.builtin`, 'kernel/fs/ext4/ext4.ko\n');
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
