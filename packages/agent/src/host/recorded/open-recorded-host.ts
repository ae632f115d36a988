import { join, resolve } from 'node:path';
import type { Done, Host } from '../host.ts';
import { RecordedHost } from './format.ts';
import { openRecordedCommands } from './recorded-commands.ts';
import { openRecordedFiles } from './recorded-files.ts';
import { readJson } from './recorded-host-error.ts';
import { openRecordedNet } from './recorded-net.ts';

/**
 * A host as it was captured, read-only. Everything is checked here: a folder that is no recording throws
 * `recorded_host_invalid`, naming the file and the place in it; later answers are values.
 */
export async function openRecordedHost(dir: string): Promise<Host> {
  const top = resolve(dir);
  const recorded = await readJson(join(top, 'host.json'), RecordedHost);
  return {
    moment: async () => ({ ...recorded.at }),
    ...(await openRecordedFiles(join(top, 'root'), recorded)),
    ...(await openRecordedCommands(top, recorded)),
    ...openRecordedNet(recorded),
    fetchText: async (url) => ({ ok: false, because: 'not_recorded', detail: `not recorded: ${url}` }),
    // What a plan on it shows is meant for the host that was recorded.
    mayWrite: async () => ({ ok: true }),
    writeFile: async ({ path }) => refuse(path),
    removeFile: async (path) => refuse(path),
    removeEmptyFolder: async (path) => refuse(path),
  };
}

function refuse(path: string): Done {
  return { ok: false, because: 'read_only', detail: `${path} is on a recorded host` };
}
