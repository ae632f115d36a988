import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { unitFolders } from '../unit-folders.ts';
import type { DockerFlag } from './fact.ts';
import { parseDockerdFlags } from './parse-dockerd-flags.ts';
import { environmentFilesOf, parseStartCommand, type UnitText } from './parse-unit-command.ts';

const unit = 'docker.service';
const environmentFiles = [
  '/etc/default/docker',
  '/etc/sysconfig/docker',
  '/etc/sysconfig/docker-storage',
  '/etc/sysconfig/docker-network',
];
const mostDropIns = 50;
const longestFile = 200_000;

export const startCommandFiles = [
  ...unitFolders.flatMap((folder) => [`${folder}/${unit}`, `${folder}/${unit}.d`, `${folder}/${unit}.d/*`]),
  ...environmentFiles,
  '/proc/*/cmdline',
];

/** The options of the next start, from the unit's files; null where one could not be read. */
export async function readConfiguredFlags(host: HostReader, partial: Gap[]): Promise<DockerFlag[] | null> {
  const units = await readUnitFiles(host, partial);
  if (units === null) return null;
  const environment: UnitText[] = [];
  for (const file of environmentFilesOf(units)) {
    if (!environmentFiles.includes(file)) continue;
    const read = await host.readText(file, { maxBytes: longestFile });
    if (read.ok) environment.push({ file, text: read.value });
    else if (read.because !== 'absent') return unreadable(partial, read.because);
  }
  const words = parseStartCommand(units, environment);
  return words === null ? null : parseDockerdFlags(words);
}

/** The options of the process that runs. */
export async function readRunningFlags(
  host: HostReader,
  pid: number | null,
  partial: Gap[],
): Promise<DockerFlag[] | null> {
  if (pid === null) return null;
  const file = `/proc/${pid}/cmdline`;
  const read = await host.readText(file, { maxBytes: longestFile });
  if (!read.ok) {
    if (read.because !== 'absent') partial.push({ path: 'flags.running', because: read.because });
    return null;
  }
  const words = read.value.replace(/\0$/, '').split('\0');
  return parseDockerdFlags(words.map((word) => ({ word, file })));
}

/** The unit file and its drop-ins in the order in which systemd takes them. */
async function readUnitFiles(host: HostReader, partial: Gap[]): Promise<UnitText[] | null> {
  const found: UnitText[] = [];
  const dropIns = new Map<string, string>();
  for (const folder of unitFolders) {
    const path = `${folder}/${unit}`;
    const read = found.length === 0 ? await host.readText(path, { maxBytes: longestFile }) : null;
    if (read?.ok) found.push({ file: path, text: read.value });
    else if (read && read.because !== 'absent') return unreadable(partial, read.because);
    const listed = await host.listDir(`${path}.d`);
    if (!listed.ok && listed.because !== 'absent') return unreadable(partial, listed.because);
    for (const { name } of listed.ok ? listed.value : [])
      if (name.endsWith('.conf') && !dropIns.has(name)) dropIns.set(name, `${path}.d/${name}`);
  }
  const inOrder = [...dropIns].sort(([one], [other]) => (one < other ? -1 : 1)).slice(0, mostDropIns);
  for (const [, path] of inOrder) {
    const read = await host.readText(path, { maxBytes: longestFile });
    if (read.ok) found.push({ file: path, text: read.value });
    else if (read.because !== 'absent') return unreadable(partial, read.because);
  }
  return found;
}

function unreadable(partial: Gap[], because: string): null {
  partial.push({ path: 'flags.configured', because });
  return null;
}
