import { type Parsed, plainText, unread } from '../parsed.ts';
import type { DiskFact } from './fact.ts';

type Mount = DiskFact['mounts'][number];

/** Columns that are asked for by name, so that no version of df gives others; the path stands last: it can hold blanks. */
export const dfArgv = [
  'df',
  '--local',
  '--block-size=1',
  ...['tmpfs', 'devtmpfs', 'overlay', 'squashfs', 'ramfs'].map((type) => `--exclude-type=${type}`),
  '--output=source,fstype,size,avail,itotal,iavail,target',
] as const;

export function parseDf(given: string): Parsed<Mount[]> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const mounts = text.split('\n').flatMap((line): Mount[] => {
    const match = /^(\S.*?) +(\S+) +(-?\d+|-) +(-?\d+|-) +(-?\d+|-) +(-?\d+|-) (\/.*)$/.exec(line.replace(/\r$/, ''));
    if (!match) return [];
    const [, device = '', fsType = '', size, available, inodes, inodesAvailable, path = ''] = match;
    const total = toCount(inodes);
    // btrfs and others print 0 of 0: they have no fixed number.
    const isFixed = total !== null && total > 0;
    return [
      {
        path,
        device,
        fsType,
        sizeBytes: toCount(size),
        availableBytes: toCount(available),
        inodes: isFixed ? total : null,
        inodesAvailable: isFixed ? toCount(inodesAvailable) : null,
      },
    ];
  });
  return mounts.length === 0 ? unread('no_answer') : { value: mounts, unreadable: [] };
}

/** What is below zero (root has used what is kept for it) is nothing left. */
function toCount(text: string | undefined): number | null {
  if (text === undefined || !/^-?\d+$/.test(text)) return null;
  const count = Math.max(0, Number(text));
  return Number.isSafeInteger(count) ? count : null;
}

/** The file system that holds a path: the one with the longest path that leads to it. */
export function mountOf(path: string, mounts: readonly Mount[]): string | null {
  const holding = mounts.filter(
    (mount) => mount.path === '/' || path === mount.path || path.startsWith(`${mount.path}/`),
  );
  return holding.sort((a, b) => b.path.length - a.path.length)[0]?.path ?? null;
}
