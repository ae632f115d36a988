import type { FactValue } from '../../probes/facts.ts';

/** What the healthy hosts have in common below their containers. */
export const plainSystem: Pick<
  FactValue<'os'>,
  'virtualisation' | 'inUserNamespace' | 'secureBoot' | 'lockdown' | 'selinux' | 'cgroupVersion' | 'rebootScheduledAtMs'
> = {
  virtualisation: 'none',
  inUserNamespace: false,
  secureBoot: false,
  lockdown: 'none',
  selinux: 'disabled',
  cgroupVersion: 2,
  rebootScheduledAtMs: null,
};

export function aBus(...gpus: { address: string; deviceId: string; classCode: string }[]): FactValue<'pci'> {
  const bound = { vendorId: '10de', driver: 'nvidia', driverOverride: null, configDead: false };
  return { gpus: gpus.map((gpu) => ({ ...gpu, ...bound })), nvswitches: [], passthroughIds: [], iommuOptions: [] };
}

/** Modules for the running kernel and nothing that keeps them out. */
export const modulesOnDisk: Pick<
  FactValue<'driver'>,
  'runningKernel' | 'kernels' | 'dkms' | 'modprobe' | 'gspFirmware' | 'otherLibraries' | 'compatFolders'
> = {
  runningKernel: '6.8.0-45-generic',
  kernels: [
    {
      kernel: '6.8.0-45-generic',
      running: true,
      modules: ['nvidia', 'nvidia_drm', 'nvidia_modeset', 'nvidia_uvm'],
      folder: '/lib/modules/6.8.0-45-generic/updates/dkms',
      headers: true,
    },
  ],
  dkms: [],
  modprobe: [],
  gspFirmware: [],
  otherLibraries: [],
  compatFolders: [],
};

export const noDriver: FactValue<'driver'> = {
  ...modulesOnDisk,
  kernels: [],
  modules: [],
  loadedVersion: null,
  flavour: null,
  onDiskVersion: null,
  libraryVersion: null,
  libraryPath: null,
  hasNvidiaSmi: false,
};

export const noNodes: FactValue<'device_nodes'> = { nodes: [], majors: {}, charLinks: [], gpuMinors: [] };

/** The nodes of one GPU, of the driver's control device and of unified memory. */
export const nodesOfOneGpu: FactValue<'device_nodes'> = {
  nodes: (
    [
      ['/dev/nvidia0', 195, 0],
      ['/dev/nvidiactl', 195, 255],
      ['/dev/nvidia-uvm', 510, 0],
    ] as const
  ).map(([path, major, minor]) => ({ path, major, minor, mode: 0o666, uid: 0, gid: 0, group: 'root' })),
  majors: { nvidia: 195, 'nvidia-uvm': 510 },
  charLinks: [{ path: '/dev/char/195:0', target: '../nvidia0' }],
  gpuMinors: [{ address: '0000:65:00.0', minor: 0, excluded: false }],
};
