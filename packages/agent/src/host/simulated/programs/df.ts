import type { Machine } from '../machine.ts';
import { storageOf } from '../storage.ts';
import { type Program, printed } from './program.ts';

/** `df --output=…`: one local file system, and the EFI partition of a server. Columns are as wide as their widest cell. */
export const df: Program = (machine, args) => {
  const columns = args
    .find((arg) => arg.startsWith('--output='))
    ?.slice('--output='.length)
    .split(',');
  if (columns === undefined || !args.includes('--block-size=1')) return undefined;
  const table = [titles, ...rowsOf(machine)].map((row) => columns.map((name) => row[name] ?? ''));
  const widths = columns.map((_, at) => Math.max(...table.map((cells) => cells[at]?.length ?? 0)));
  const lines = table.map((cells) =>
    cells
      .map((cell, at) => (isLeft(columns[at]) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join(' ')
      .trimEnd(),
  );
  return printed(`${lines.join('\n')}\n`);
};

const titles: Record<string, string> = {
  source: 'Filesystem',
  fstype: 'Type',
  size: '1B-blocks',
  avail: 'Avail',
  itotal: 'Inodes',
  iavail: 'IFree',
  target: 'Mounted on',
};

function isLeft(column: string | undefined): boolean {
  return column === 'source' || column === 'fstype' || column === 'target';
}

function rowsOf(machine: Machine): Record<string, string>[] {
  const { device, sizeBytes, availableBytes, inodes, inodesAvailable } = storageOf(machine);
  const root = {
    source: device,
    fstype: 'ext4',
    size: String(sizeBytes),
    avail: String(availableBytes),
    itotal: String(inodes),
    iavail: String(inodesAvailable),
    target: '/',
  };
  if (machine.os.arch === 'aarch64') return [root];
  const efi = {
    source: '/dev/nvme0n1p1',
    fstype: 'vfat',
    size: '535805952',
    avail: '529436672',
    itotal: '0',
    iavail: '0',
    target: '/boot/efi',
  };
  return [root, efi];
}
