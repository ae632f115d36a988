import { defineProbe, type ProbeContext } from '../define-probe.ts';
import { below, type Gap } from '../parsed.ts';
import { matchesPattern } from '../path-pattern.ts';
import { readConfigFile } from '../read-config-file.ts';
import { readRootlessUsers, rootlessUserFiles } from '../read-rootless-users.ts';
import { type OtherToolkitConfig, ToolkitConfig } from './fact.ts';
import { parseToolkitConfig, withToolkitDefaults } from './parse-toolkit-config.ts';
import { parseUidMap } from './parse-uid-map.ts';
import { binaryFiles, readBinaries, toolkitCommands } from './read-binaries.ts';

const configPath = '/etc/nvidia-container-runtime/config.toml';
const operatorConfigPath = '/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml';
const inHome = '.config/nvidia-container-runtime/config.toml';
/** Driver roots lie here in practice; `state` of another one is not looked at. */
const driverRoots = [
  '/run/*',
  '/run/*/*',
  '/opt/*',
  '/opt/*/*',
  '/usr/local/*',
  '/usr/local/*/*',
  '/home/*/*/*',
  '/mnt/*',
];

export const toolkitProbe = defineProbe({
  key: 'toolkit',
  title: 'NVIDIA container toolkit: its binaries, versions and each config.toml',
  everyMs: 60_000,
  inputs: {
    files: [
      ...[configPath, operatorConfigPath, ...rootlessUserFiles, `/home/*/${inHome}`],
      ...[...binaryFiles, ...driverRoots, '/proc/self/uid_map'],
    ],
    commands: toolkitCommands,
  },
  async collect(context) {
    const partial: Gap[] = [];
    const { binaries, version, installedAtMs, installedList } = await readBinaries(context.host, partial);
    const system = await readConfig(context, configPath, partial, { file: 'configFile', config: 'config' });
    const otherConfigs: OtherToolkitConfig[] = [];
    const operator = await readConfig(context, operatorConfigPath, partial, null);
    if (operator.file.present) otherConfigs.push({ scope: 'operator', uid: null, ...operator });
    const { users, gaps } = await readRootlessUsers(context.host);
    partial.push(...gaps.map(({ path, because }) => ({ path: 'otherConfigs', because: `${path}: ${because}` })));
    for (const { uid, home } of users) {
      if (home === null) continue;
      const user = await readConfig(context, `${home}/${inHome}`, partial, null);
      if (user.file.present) otherConfigs.push({ scope: 'user', uid, ...user });
    }
    const map = await context.host.readText('/proc/self/uid_map', { maxBytes: 100_000 });
    const value = {
      ...{ installed: binaries.length > 0, version, binaries, installedAtMs, installedList, otherConfigs },
      ...{ configFile: system.file, config: system.config, stated: system.stated },
      driverRootState: system.driverRootState,
      inUserNamespace: map.ok ? parseUidMap(map.value) : null,
    };
    return { value, unreadable: null, partial };
  },
});

/** `paths`: where gaps are told; of the configurations beside the system's the file's own error tells. */
async function readConfig(
  context: ProbeContext,
  path: string,
  partial: Gap[],
  paths: { file: string; config: string } | null,
): Promise<Omit<OtherToolkitConfig, 'scope' | 'uid'>> {
  const { file, text, gap } = await readConfigFile(context, path);
  if (gap && paths) partial.push({ path: paths.file, because: gap.because });
  const parsed = text === null ? null : parseToolkitConfig(text);
  if (parsed?.value === null) file.error = parsed.unreadable[0]?.because ?? null;
  if (paths) partial.push(...below(paths.config, parsed?.unreadable ?? []));
  const config = withToolkitDefaults(parsed?.value ?? null);
  const stated = ToolkitConfig.keyof().options.filter((key) => (parsed?.value?.[key] ?? '') !== '');
  return { file, config, stated, driverRootState: await readDriverRoot(context, config.driverRoot) };
}

async function readDriverRoot(
  { host }: ProbeContext,
  root: string | null,
): Promise<OtherToolkitConfig['driverRootState']> {
  const folder = root?.replace(/\/+$/, '') ?? '';
  if (!driverRoots.some((place) => matchesPattern(place, folder))) return null;
  const listed = await host.listDir(folder);
  if (listed.ok) return listed.value.length === 0 ? 'empty' : 'present';
  return listed.because === 'absent' ? 'missing' : null;
}
