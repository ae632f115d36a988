import type { ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { readRootlessUsers, rootlessUserFiles } from '../read-rootless-users.ts';
import type { RootlessDocker } from './fact.ts';
import { parseDaemonJson } from './parse-daemon-json.ts';

const inHome = '.config/docker/daemon.json';

export const rootlessDaemonFiles = [...rootlessUserFiles, `/home/*/${inHome}`];

export async function readRootlessDaemons(context: ProbeContext, partial: Gap[]): Promise<RootlessDocker[]> {
  const { users, gaps } = await readRootlessUsers(context.host);
  partial.push(...gaps.map(({ path, because }) => ({ path: 'rootless', because: `${path}: ${because}` })));
  const daemons: RootlessDocker[] = [];
  for (const { uid, socket, home } of users) {
    const read = home === null ? null : await readConfigFile(context, `${home}/${inHome}`);
    const parsed = read?.text == null ? null : parseDaemonJson(read.text);
    if (read?.gap) partial.push({ path: 'rootless', because: `${read.gap.path}: ${read.gap.because}` });
    if (read && parsed?.value === null) read.file.error = parsed.unreadable[0]?.because ?? null;
    const runtimes = (parsed?.value?.runtimes ?? []).map(({ name }) => name);
    daemons.push({ uid, socket, configFile: read?.file ?? null, runtimes, cdi: parsed?.value?.cdi ?? null });
  }
  return daemons;
}
