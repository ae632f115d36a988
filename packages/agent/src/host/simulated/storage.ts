import type { Machine } from './machine.ts';

const gib = 1024 ** 3;

/** The disk that everything is on: a server's NVMe, or what a Jetson is flashed to. */
export function storageOf(machine: Machine) {
  const onJetson = machine.os.arch === 'aarch64';
  const sizeBytes = (onJetson ? 57 : 878) * gib;
  const usedShare = 0.2 + machine.random.int('disk/used', 20) / 100;
  const inodes = Math.floor(sizeBytes / 16_384);
  return {
    device: onJetson ? '/dev/mmcblk0p1' : '/dev/nvme0n1p2',
    sizeBytes,
    // ext4 keeps a twentieth for root.
    availableBytes: machine.disk === 'full' ? 0 : Math.floor(sizeBytes * (0.95 - usedShare)),
    inodes,
    inodesAvailable: Math.floor(inodes * 0.97),
  };
}
