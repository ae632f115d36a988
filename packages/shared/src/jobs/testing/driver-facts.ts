import type { CdiFact, CdiSpec } from '../../probes/cdi/fact.ts';
import type { FactValue } from '../../probes/facts.ts';
import { aFile } from './facts.ts';

export const loadedVersion = '580.65.06';

export function aDriver(over: Partial<FactValue<'driver'>> = {}): FactValue<'driver'> {
  return {
    modules: ['nvidia', 'nvidia_uvm', 'nvidia_modeset'],
    loadedVersion,
    flavour: 'open',
    onDiskVersion: loadedVersion,
    libraryVersion: loadedVersion,
    libraryPath: '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1',
    hasNvidiaSmi: true,
    runningKernel: '6.8.0-60-generic',
    kernels: [
      {
        kernel: '6.8.0-60-generic',
        running: true,
        modules: ['nvidia', 'nvidia_drm', 'nvidia_modeset', 'nvidia_uvm'],
        folder: '/usr/lib/modules/6.8.0-60-generic/updates/dkms',
        headers: true,
      },
    ],
    dkms: [],
    modprobe: [],
    gspFirmware: [],
    otherLibraries: [],
    compatFolders: [],
    ...over,
  };
}

export function aCdi(over: Partial<CdiFact> = {}): CdiFact {
  const dirs = ['/etc/cdi', '/var/run/cdi'];
  return {
    specDirs: dirs.map((path) => ({ path, present: true, realPath: path.replace('/var/run', '/run') })),
    specs: [],
    conflicts: [],
    devices: [],
    readers: [],
    ignoredFiles: [],
    refresh: { service: null, path: null },
    ...over,
  };
}

export function aSpec(path: string, over: Partial<CdiSpec> = {}): CdiSpec {
  return {
    file: aFile(path),
    dir: path.slice(0, path.lastIndexOf('/')),
    kind: 'nvidia.com/gpu',
    cdiVersion: '0.5.0',
    devices: ['0', 'GPU-0', 'all'].map((name) => `nvidia.com/gpu=${name}`),
    driverVersions: [loadedVersion],
    missingPaths: [],
    checkedPaths: 1,
    namedPaths: 1,
    ...over,
  };
}
