import { dirname } from 'node:path';
import type { Clock } from '@gpufleet/shared/core';
import { HostFault } from '../errno.ts';

// A hung file system keeps a thread of Node's pool (four by default) until the kernel lets go. One is left for the
// agent's own state, so that it can still report.
const MOST_STUCK = 3;

export type Limited = <T>(path: string, read: () => Promise<T>) => Promise<T>;

/**
 * Gives reads a time limit. A read that ran over it cannot be stopped, only left behind: until it returns, nothing in
 * the same folder is tried again, and when too many are stuck no read is started at all.
 */
export function createReadLimit(clock: Clock, timeoutMs: number): Limited {
  const stuck = new Map<symbol, string>();
  return async function limited<T>(path: string, read: () => Promise<T>): Promise<T> {
    const folder = dirname(path);
    for (const other of stuck.values()) {
      if (folder === other) throw new HostFault('ETIMEDOUT', `an earlier read in ${folder} still hangs`);
    }
    if (stuck.size >= MOST_STUCK) {
      throw new HostFault(
        'ETIMEDOUT',
        `${stuck.size} reads hang (${[...stuck.values()].join(', ')}); no more are tried`,
      );
    }
    const id = Symbol(path);
    const running = read().finally(() => stuck.delete(id));
    return await new Promise<T>((resolve, reject) => {
      const cancel = clock.after(timeoutMs, () => {
        stuck.set(id, folder);
        reject(new HostFault('ETIMEDOUT', `no answer within ${timeoutMs} ms`));
      });
      running.then(resolve, reject).finally(cancel);
    });
  };
}
