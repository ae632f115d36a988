import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { ModprobeSetting } from './fact.ts';
import { parseKernelCommandLine, parseModprobe } from './parse-module-files.ts';

/** Where modprobe looks; of files with one name the first counts. */
const folders = [
  '/etc/modprobe.d',
  '/run/modprobe.d',
  '/usr/local/lib/modprobe.d',
  '/usr/lib/modprobe.d',
  '/lib/modprobe.d',
];
const commandLine = '/proc/cmdline';
const maxFiles = 200;

export const modprobeFiles = [...folders.flatMap((folder) => [folder, `${folder}/*.conf`]), commandLine];

export async function readModprobe(host: HostReader, partial: Gap[]): Promise<ModprobeSetting[]> {
  const gap = (because: string) => {
    if (!partial.some(({ path }) => path === 'modprobe')) partial.push({ path: 'modprobe', because });
  };
  const seen = new Set<string>();
  const settings: ModprobeSetting[] = [];
  for (const folder of folders) {
    const listed = await host.listDir(folder);
    if (!listed.ok && listed.because !== 'absent') gap(listed.because);
    const files = (listed.ok ? listed.value : []).map(({ name }) => name).filter((name) => name.endsWith('.conf'));
    for (const name of files.filter((file) => !seen.has(file)).slice(0, maxFiles)) {
      seen.add(name);
      const read = await host.readText(`${folder}/${name}`, { maxBytes: 500_000 });
      if (read.ok) settings.push(...parseModprobe(read.value, `${folder}/${name}`));
      // A link to /dev/null is how an administrator empties a file of the distribution.
      else if (read.because !== 'not_a_file' && read.because !== 'absent') gap(read.because);
    }
  }
  const words = await host.readText(commandLine);
  if (!words.ok && words.because !== 'absent') gap(words.because);
  return [...settings, ...(words.ok ? parseKernelCommandLine(words.value, commandLine) : [])];
}
