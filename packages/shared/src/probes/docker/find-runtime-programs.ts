import type { HostReader } from '../../host/index.ts';
import type { RuntimeEntry } from '../fact.ts';
import { matchesPattern } from '../path-pattern.ts';
import { servicePath } from '../unit-folders.ts';
import type { RuntimeProgram } from './fact.ts';

const folders = servicePath.split(':');
/** Programs of runtimes lie here in practice; one elsewhere is not looked for. */
export const runtimeProgramFiles = [
  ...folders.map((folder) => `${folder}/*`),
  ...['/usr/*/*', '/usr/*/*/*', '/usr/*/*/*/*', '/opt/*/*', '/opt/*/*/*', '/var/lib/*/*/*'],
];

/** No daemon.json names more. */
const mostRuntimes = 50;

/** Whether the program of each runtime is on the disk; dockerd takes a missing one and fails at each container. */
export async function findRuntimePrograms(
  host: HostReader,
  runtimes: readonly RuntimeEntry[],
): Promise<RuntimeProgram[]> {
  const found: RuntimeProgram[] = [];
  for (const { name, binary } of runtimes.slice(0, mostRuntimes))
    if (binary !== null) found.push({ name, program: binary, present: await isThere(host, binary) });
  return found;
}

/** null: nobody can tell. */
async function isThere(host: HostReader, program: string): Promise<boolean | null> {
  const isNamed = !program.includes('/');
  const places = isNamed ? folders.map((folder) => `${folder}/${program}`) : [program];
  if (!places.every((place) => runtimeProgramFiles.some((pattern) => matchesPattern(pattern, place)))) return null;
  let isKnown = true;
  for (const place of places) {
    const stat = await host.stat(place);
    if (stat.ok && stat.value.type === 'file') return true;
    if (!stat.ok && stat.because !== 'absent') isKnown = false;
  }
  return isKnown ? false : null;
}
