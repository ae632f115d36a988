import { join, resolve } from 'node:path';
import { createSystemClock } from '../../clock.ts';
import type { Host } from '../host.ts';
import { createFileChanges, lookAt } from '../real/change-files.ts';
import { READ_TIMEOUT_MS, type RealHostOptions } from '../real/create-real-host.ts';
import { readMoment } from '../real/moment.ts';
import { fetchText, probeUrl } from '../real/probe-url.ts';
import { createFileReads, type Place } from '../real/read-files.ts';
import { runProgram } from '../real/run-program.ts';
import { createReadLimit } from '../real/stuck-reads.ts';
import { readSystemInformation } from '../real/systeminformation.ts';
import { walkToExisting } from '../walk-path.ts';

/**
 * A directory tree as `/`: links and `..` stay inside it. Programs are the machine's own and see the machine's own
 * files; so are boot id, uptime and systeminformation.
 */
export function createPrefixedHost(root: string, options: RealHostOptions = {}): Host {
  const top = resolve(root);
  const clock = options.clock ?? createSystemClock();
  const limited = createReadLimit(clock, options.readTimeoutMs ?? READ_TIMEOUT_MS);
  const locate: Place['locate'] = async (path, how) =>
    join(top, (await walkToExisting(path, (inside) => lookAt(join(top, inside)), how)).path);
  const files = createFileReads({ locate, limited });
  const kernel = createFileReads({ locate: async (path) => path, limited });
  return {
    ...files,
    ...createFileChanges(clock, top),
    moment: () => readMoment(clock, kernel, files),
    run: (argv, runOptions) => runProgram(clock, argv, runOptions),
    si: readSystemInformation,
    probeUrl: (url, { timeoutMs }) => probeUrl(clock, url, timeoutMs),
    fetchText: (url, { timeoutMs, maxBytes }) => fetchText(clock, url, timeoutMs, maxBytes),
  };
}
