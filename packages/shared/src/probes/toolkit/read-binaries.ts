import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { firstLine, runCommand } from '../run-command.ts';
import type { ToolkitFact } from './fact.ts';
import { parseToolkitVersion } from './parse-toolkit-config.ts';

/** The GPU operator's own copy is looked at first, as k3s does. */
const folders = ['/usr/local/nvidia/toolkit', '/usr/bin', '/usr/local/bin'];
const names = [
  'nvidia-container-runtime',
  'nvidia-container-runtime-hook',
  'nvidia-container-runtime.cdi',
  'nvidia-container-runtime.legacy',
  'nvidia-container-cli',
  'nvidia-ctk',
  'nvidia-cdi-hook',
];
/** Packages that bring them; dpkg writes the list of files when it unpacks one. */
const packages = ['nvidia-container-toolkit', 'nvidia-container-toolkit-base', 'libnvidia-container-tools'];
const packageLists = packages.map((name) => `/var/lib/dpkg/info/${name}.list`);
/** By the name that is on the path, and the operator's copy by its own. */
const versionArgvs = [
  { program: 'nvidia-ctk', folders: ['/usr/bin', '/usr/local/bin'], argv: ['nvidia-ctk', '--version'] },
  {
    program: 'nvidia-container-cli',
    folders: ['/usr/bin', '/usr/local/bin'],
    argv: ['nvidia-container-cli', '--version'],
  },
] as const;

export const binaryFiles = [...folders.flatMap((folder) => names.map((name) => `${folder}/${name}`)), ...packageLists];
export const toolkitCommands = versionArgvs.map(({ argv }) => ({ argv, required: false }));

/** Every program of the toolkit that is there, and what it says of its version. */
export async function readBinaries(
  host: HostReader,
  partial: Gap[],
): Promise<Pick<ToolkitFact, 'binaries' | 'version' | 'installedAtMs' | 'installedList'>> {
  const binaries: ToolkitFact['binaries'] = [];
  for (const folder of folders) {
    for (const name of names) {
      const stat = await host.stat(`${folder}/${name}`);
      if (!stat.ok && stat.because !== 'absent') partial.push({ path: 'binaries', because: stat.because });
      if (stat.ok && stat.value.type === 'file')
        binaries.push({ name, path: `${folder}/${name}`, mtimeMs: stat.value.mtimeMs, version: null });
    }
  }
  for (const { program, folders: own, argv } of versionArgvs) {
    const asked = own.flatMap((folder) => binaries.filter(({ path }) => path === `${folder}/${program}`))[0];
    if (asked === undefined) continue;
    const said = await runCommand(host, argv);
    asked.version = said.ok ? parseToolkitVersion(said.text) : null;
    const place = program === 'nvidia-ctk' ? 'version' : 'binaries.version';
    if (asked.version === null) partial.push({ path: place, because: said.ok ? firstLine(said.ran) : said.because });
  }
  const version = binaries.find(({ name, version: said }) => name === 'nvidia-ctk' && said !== null)?.version ?? null;
  return { binaries, version, ...(await readInstalled(host)) };
}

async function readInstalled(host: HostReader): Promise<Pick<ToolkitFact, 'installedAtMs' | 'installedList'>> {
  let newest: { path: string; mtimeMs: number } | null = null;
  for (const path of packageLists) {
    const stat = await host.stat(path);
    if (stat.ok && stat.value.mtimeMs > (newest?.mtimeMs ?? -1)) newest = { path, mtimeMs: stat.value.mtimeMs };
  }
  return { installedAtMs: newest?.mtimeMs ?? null, installedList: newest?.path ?? null };
}
