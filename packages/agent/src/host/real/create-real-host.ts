import type { Clock } from '@gpufleet/shared/core';
import { createSystemClock } from '../../clock.ts';
import type { Host } from '../host.ts';
import { createFileChanges } from './change-files.ts';
import { readMoment } from './moment.ts';
import { fetchText, probeUrl } from './probe-url.ts';
import { createFileReads } from './read-files.ts';
import { runProgram } from './run-program.ts';
import { createReadLimit } from './stuck-reads.ts';
import { readSystemInformation } from './systeminformation.ts';

export interface RealHostOptions {
  clock?: Clock;
  /** After this a read is left behind as hung. */
  readTimeoutMs?: number;
}

export const READ_TIMEOUT_MS = 5_000;

/** The machine that this process runs on. */
export function createRealHost(options: RealHostOptions = {}): Host {
  const clock = options.clock ?? createSystemClock();
  const limited = createReadLimit(clock, options.readTimeoutMs ?? READ_TIMEOUT_MS);
  const files = createFileReads({ locate: async (path) => path, limited });
  return {
    ...files,
    ...createFileChanges(clock, '/'),
    moment: () => readMoment(clock, files, files),
    run: (argv, runOptions) => runProgram(clock, argv, runOptions),
    si: readSystemInformation,
    probeUrl: (url, { timeoutMs }) => probeUrl(clock, url, timeoutMs),
    fetchText: (url, { timeoutMs, maxBytes }) => fetchText(clock, url, timeoutMs, maxBytes),
  };
}
