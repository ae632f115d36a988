import type { HostReader } from '../../host/index.ts';
import { kernelReleaseFile, modulesFile } from '../kernel-files.ts';
import type { Gap } from '../parsed.ts';
import { localUnitFolder } from '../unit-folders.ts';
import type { JetsonFact } from './fact.ts';

const daemonJson = '/etc/docker/daemon.json';
const dropInFolder = `${localUnitFolder}/docker.service.d`;

export const rawTableFiles = [
  modulesFile,
  kernelReleaseFile,
  '/lib/modules/*/modules.builtin',
  '/lib/modules/*/modules.dep',
  daemonJson,
  dropInFolder,
  `${dropInFolder}/*`,
];

export async function readRawTable(
  host: HostReader,
  gaps: Gap[],
): Promise<Pick<JetsonFact, 'hasRawTable' | 'rawTableSkippedBy'>> {
  const hasRawTable = await readModule(host);
  if (hasRawTable === null) gaps.push({ path: 'hasRawTable', because: 'no_list_of_modules' });
  return { hasRawTable, rawTableSkippedBy: hasRawTable === false ? await readSkip(host) : null };
}

/** Any place that has it will do; only depmod's list of the running kernel can say that no place has it. */
async function readModule(host: HostReader): Promise<boolean | null> {
  const loaded = await host.readText(modulesFile);
  if (loaded.ok && /^iptable_raw /m.test(loaded.value)) return true;
  const kernel = await host.readText(kernelReleaseFile);
  const release = kernel.ok ? kernel.value.trim() : '';
  if (!/^[\w.+~-]+$/.test(release)) return null;
  const builtIn = await host.readText(`/lib/modules/${release}/modules.builtin`);
  if (builtIn.ok && hasModule(builtIn.value)) return true;
  const onDisk = await host.readText(`/lib/modules/${release}/modules.dep`);
  return onDisk.ok && onDisk.value.trim() !== '' ? hasModule(onDisk.value) : null;
}

function hasModule(list: string): boolean {
  return /(?:^|\/)iptable_raw\.ko(?:\.\w+)?(?::|\s*$)/m.test(list);
}

/** Docker's documented switch in the unit's environment, or iptables left alone altogether. */
async function readSkip(host: HostReader): Promise<string | null> {
  const daemon = await host.readText(daemonJson, { maxBytes: 1_000_000 });
  if (daemon.ok && /"iptables"\s*:\s*false|"firewall-backend"\s*:\s*"nftables"/.test(daemon.value)) return daemonJson;
  const listed = await host.listDir(dropInFolder);
  const names = listed.ok ? listed.value.map(({ name }) => name).filter((name) => name.endsWith('.conf')) : [];
  for (const name of names.slice(0, 50)) {
    const path = `${dropInFolder}/${name}`;
    const read = await host.readText(path, { maxBytes: 100_000 });
    if (read.ok && /^\s*Environment=.*DOCKER_INSECURE_NO_IPTABLES_RAW=(1|true)/im.test(read.value)) return path;
  }
  return null;
}
