import type { ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { type Distribution, environmentFiles, unitFiles } from './distribution.ts';
import { type K3sConfig, parseK3sConfig } from './parse-k3s-config.ts';
import { flagOf, parseExecStart, variableOf } from './parse-unit-text.ts';

export function settingsFiles(distribution: Distribution): string[] {
  const { configDir } = distribution;
  return [
    ...[`${configDir}/config.yaml`, `${configDir}/config.yaml.d`, `${configDir}/config.yaml.d/*`],
    ...unitFiles(distribution),
    ...environmentFiles(distribution),
  ];
}

export interface ReadK3sConfig {
  files: ConfigFile[];
  /** What counts of all of them: the unit's flags, then its environment, then the files with the last one first. */
  settings: Omit<K3sConfig, 'keys'>;
  /** PATH of the unit's environment, where one is set. */
  path: string | null;
  gaps: Gap[];
}

/** config.yaml, then config.yaml.d in the order of names, as they are merged; then what the unit itself says. */
export async function readK3sConfig(context: ProbeContext, distribution: Distribution): Promise<ReadK3sConfig> {
  const gaps: Gap[] = [];
  const { configDir } = distribution;
  const rootPath = `${configDir}/config.yaml`;
  const dropInFolder = `${configDir}/config.yaml.d`;
  const listed = await context.host.listDir(dropInFolder);
  if (!listed.ok && listed.because !== 'absent') gaps.push({ path: 'configFiles', because: listed.because });
  const dropIns = listed.ok ? listed.value.filter(({ name }) => /\.ya?ml$/.test(name)) : [];
  const files: ConfigFile[] = [];
  const settings: ReadK3sConfig['settings'] = {
    defaultRuntime: null,
    dataDir: null,
    nodeName: null,
    docker: null,
    kubeletRootDir: null,
  };
  for (const path of [rootPath, ...dropIns.map(({ name }) => `${dropInFolder}/${name}`)]) {
    const { file, text, gap } = await readConfigFile(context, path);
    if (gap) gaps.push({ path: 'configFiles', because: gap.because });
    if (file.present || path === rootPath) files.push(file);
    if (text === null) continue;
    const { value, unreadable } = parseK3sConfig(text);
    if (value === null) {
      file.error = unreadable[0]?.because ?? null;
      gaps.push({ path: 'configFiles', because: `broken: ${path}` });
      continue;
    }
    override(settings, value);
  }
  const path = await readUnitSettings(context, distribution, settings, gaps);
  return { files, settings, path, gaps };
}

async function readUnitSettings(
  { host }: ProbeContext,
  distribution: Distribution,
  settings: ReadK3sConfig['settings'],
  gaps: Gap[],
): Promise<string | null> {
  let path: string | null = null;
  for (const file of environmentFiles(distribution)) {
    const read = await host.readText(file, { maxBytes: 200_000 });
    if (!read.ok && read.because !== 'absent') gaps.push({ path: 'searchPath', because: `${read.because}: ${file}` });
    if (!read.ok) continue;
    const variable = (name: string) => variableOf(read.value, name);
    path = variable('PATH') ?? path;
    settings.dataDir = variable(`${distribution.variables}DATA_DIR`) ?? settings.dataDir;
    settings.nodeName = variable(`${distribution.variables}NODE_NAME`) ?? settings.nodeName;
  }
  for (const file of unitFiles(distribution)) {
    const read = await host.readText(file, { maxBytes: 200_000 });
    if (!read.ok) continue;
    const words = parseExecStart(read.value);
    const rootDir = words.map((word) => /^(?:--kubelet-arg=)?(?:--)?root-dir=(\/.*)$/.exec(word)?.[1]);
    override(settings, {
      defaultRuntime: flagOf(words, '--default-runtime') || null,
      dataDir: flagOf(words, '--data-dir', '-d') || null,
      nodeName: flagOf(words, '--node-name') || null,
      docker: flagOf(words, '--docker') === '' ? true : null,
      kubeletRootDir: rootDir.find((dir) => dir !== undefined) ?? null,
    });
  }
  return path;
}

function override(settings: ReadK3sConfig['settings'], stated: Omit<K3sConfig, 'keys'>): void {
  settings.defaultRuntime = stated.defaultRuntime ?? settings.defaultRuntime;
  settings.dataDir = stated.dataDir ?? settings.dataDir;
  settings.nodeName = stated.nodeName ?? settings.nodeName;
  settings.docker = stated.docker ?? settings.docker;
  settings.kubeletRootDir = stated.kubeletRootDir ?? settings.kubeletRootDir;
}
