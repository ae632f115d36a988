import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import type { PluginLog, PluginPod } from './device-plugin-fact.ts';
import { type Api, questions } from './kubectl.ts';
import { parsePluginLog } from './parse-plugin-log.ts';

const logFolder = '/var/log/pods';
export const logFiles = [logFolder, `${logFolder}/*`, `${logFolder}/*/*`, `${logFolder}/*/*/*.log`];
const longestLog = 2_000_000;
const mostPods = 4;

/** Of every pod of the plugin here: the file that the kubelet keeps, else what the API gives where it may be asked. */
export async function readPluginLogs(
  host: HostReader,
  api: Api | null,
  pods: readonly PluginPod[],
  partial: Gap[],
): Promise<PluginLog[]> {
  const listed = await host.listDir(logFolder);
  if (!listed.ok && listed.because !== 'absent')
    partial.push({ path: 'devicePlugin.logs', because: `${listed.because}: ${logFolder}` });
  const folders = (listed.ok ? listed.value : []).filter(({ name }) => isPluginFolder(name));
  const logs: PluginLog[] = [];
  for (const { name } of folders.slice(-mostPods)) logs.push(...(await readFolder(host, name, partial)));
  for (const { namespace, name } of pods) {
    if (api?.rights !== 'admin' || logs.some((log) => log.pod === name && log.namespace === namespace)) continue;
    const question = questions.log(namespace, name, 'nvidia-device-plugin-ctr');
    const read = (text: string) => ({ value: parsePluginLog(text), unreadable: [] });
    const parsed = await api.ask(question, ['devicePlugin.logs'], read);
    if (parsed !== null)
      logs.push({
        namespace,
        pod: name,
        container: 'nvidia-device-plugin-ctr',
        source: api.source(question),
        ...parsed,
      });
  }
  return logs;
}

/** `NAMESPACE_POD_UID`; pods of helpers of the plugin have names of their own. */
function isPluginFolder(name: string): boolean {
  return /device-plugin/.test(name) && /nvidia|nvdp/.test(name) && !/gpu-feature-discovery|mps-control/.test(name);
}

async function readFolder(host: HostReader, name: string, partial: Gap[]): Promise<PluginLog[]> {
  const [namespace = '', pod = ''] = name.split('_');
  const containers = await host.listDir(`${logFolder}/${name}`);
  if (!containers.ok) {
    partial.push({ path: 'devicePlugin.logs', because: `${containers.because}: ${logFolder}/${name}` });
    return [];
  }
  const logs: PluginLog[] = [];
  for (const { name: container } of containers.value) {
    if (!/^nvidia-device-plugin(-ctr)?$/.test(container)) continue;
    const folder = `${logFolder}/${name}/${container}`;
    const files = await host.listDir(folder);
    const runs = (files.ok ? files.value : []).flatMap(({ name: file }) => /^(\d+)\.log$/.exec(file)?.[1] ?? []);
    const last = runs.map(Number).sort((a, b) => b - a);
    // A run that has just begun says nothing yet: the one before tells why it was started again.
    for (const run of last.slice(0, 2)) {
      const path = `${folder}/${run}.log`;
      const read = await host.readText(path, { maxBytes: longestLog });
      const parsed = read.ok ? parsePluginLog(read.value) : null;
      if (parsed === null) {
        partial.push({ path: 'devicePlugin.logs', because: `${read.ok ? 'too_large' : read.because}: ${path}` });
        break;
      }
      if (parsed.lastLines.length <= 3 && run !== last.at(-1)) continue;
      logs.push({ namespace, pod, container, source: `file:${path}`, ...parsed });
      break;
    }
  }
  return logs;
}
