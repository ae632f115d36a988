import type { FactValue } from '../../probes/facts.ts';
import { laterMs } from './parts.ts';

const gib = 1024 ** 3;
const server = 'https://nvidia.github.io/libnvidia-container/';

/** What is in order below everything else: packages, disk, clock, the way out. */
export const healthySystem: { [K in 'units' | 'packages' | 'disk' | 'time_sync' | 'reachability']: FactValue<K> } = {
  units: { units: [], failedNames: [] },
  packages: {
    manager: 'dpkg',
    packages: [],
    broken: [],
    interrupted: false,
    repositories: [],
    keyrings: [],
    busy: false,
    rebootRequiredBy: null,
    driverInstalledByRunfile: false,
  },
  disk: {
    mounts: [
      {
        path: '/',
        device: '/dev/nvme0n1p2',
        fsType: 'ext4',
        sizeBytes: 900 * gib,
        availableBytes: 600 * gib,
        inodes: 60_000_000,
        inodesAvailable: 58_000_000,
      },
    ],
    dataRoots: [{ of: 'agent', path: '/var/lib/gpufleet', mount: '/' }],
  },
  time_sync: { synchronised: true, service: 'chrony.service', offsetMs: 20, rtcPresent: true },
  reachability: { targets: [{ url: server, status: 200, error: null, dateMs: laterMs, offsetMs: 20 }] },
};
