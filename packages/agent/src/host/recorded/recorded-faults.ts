import { type FaultCode, HostFault } from '../errno.ts';
import type { RecordedFault, RecordedHost } from './format.ts';

const CODES: Record<RecordedFault, FaultCode> = {
  EACCES: 'EACCES',
  EIO: 'EIO',
  hang: 'ETIMEDOUT',
  EFBIG: 'EFBIG',
  not_recorded: 'NOT_RECORDED',
};

export interface Faults {
  /** Throws when the content of this path could not be read. */
  checkContent(path: string): void;
  /** Throws when the path cannot even be looked at, because of a folder above it. */
  checkWay(path: string): void;
}

export function createFaults(files: RecordedHost['files']): Faults {
  const faultOf = (path: string): RecordedFault | undefined => files[path]?.error ?? undefined;
  const isReadableAllTheSame = (path: string): boolean => files[path]?.error === null;
  return {
    checkContent(path) {
      const fault = faultOf(path);
      if (fault !== undefined) throw new HostFault(CODES[fault], `recorded as ${fault}: ${path}`);
    },
    checkWay(path) {
      for (const folder of foldersAbove(path)) {
        const fault = faultOf(folder);
        if (fault === undefined || (fault === 'EACCES' && isReadableAllTheSame(path))) continue;
        throw new HostFault(CODES[fault], `recorded as ${fault}: ${folder}`);
      }
    },
  };
}

function foldersAbove(path: string): string[] {
  const names = path.split('/').slice(1, -1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}
