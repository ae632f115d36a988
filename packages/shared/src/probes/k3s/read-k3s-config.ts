import type { ProbeContext } from '../define-probe.ts';
import type { ConfigFile } from '../fact.ts';
import type { Gap } from '../parsed.ts';
import { readConfigFile } from '../read-config-file.ts';
import { type K3sConfig, parseK3sConfig } from './parse-k3s-config.ts';

const rootPath = '/etc/rancher/k3s/config.yaml';
const dropInFolder = '/etc/rancher/k3s/config.yaml.d';
export const k3sConfigFiles = [rootPath, dropInFolder, `${dropInFolder}/*`];

export interface ReadK3sConfig {
  files: ConfigFile[];
  /** Of all files, last one wins. */
  settings: Omit<K3sConfig, 'keys'>;
  gaps: Gap[];
}

/** config.yaml, then config.yaml.d in the order of names, as k3s merges them. */
export async function readK3sConfig(context: ProbeContext): Promise<ReadK3sConfig> {
  const gaps: Gap[] = [];
  const listed = await context.host.listDir(dropInFolder);
  if (!listed.ok && listed.because !== 'absent') gaps.push({ path: 'configFiles', because: listed.because });
  const dropIns = listed.ok ? listed.value.filter(({ name }) => /\.ya?ml$/.test(name)) : [];
  const files: ConfigFile[] = [];
  const settings: ReadK3sConfig['settings'] = { defaultRuntime: null, dataDir: null, nodeName: null, docker: null };
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
    settings.defaultRuntime = value.defaultRuntime ?? settings.defaultRuntime;
    settings.dataDir = value.dataDir ?? settings.dataDir;
    settings.nodeName = value.nodeName ?? settings.nodeName;
    settings.docker = value.docker ?? settings.docker;
  }
  return { files, settings, gaps };
}
