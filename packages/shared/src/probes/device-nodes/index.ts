import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import { gpuInformationFiles, readGpuInformation } from '../driver/read-gpu-information.ts';
import type { Gap } from '../parsed.ts';
import type { DeviceNode, DeviceNodesFact } from './fact.ts';
import { isGpuNode, parseGroups, parseMajors } from './parse-device-files.ts';

const dev = '/dev';
const folders = ['/dev/nvidia-caps', '/dev/nvidia-caps-imex-channels', '/dev/dri'];
const links = '/dev/char';
const devices = '/proc/devices';
const groups = '/etc/group';
/** Sixteen GPUs in MIG slices have some hundreds. */
const maxNodes = 2_000;

/** Stands before every probe that runs nvidia-smi: that program makes the nodes that it misses. */
export const deviceNodesProbe = defineProbe({
  key: 'device_nodes',
  title: 'Device nodes of GPUs with owner and mode, their majors, and the links in /dev/char',
  everyMs: 60_000,
  inputs: {
    files: [
      dev,
      ...['nvidia*', 'nvhost-*', 'nvmap', 'nvsciipc', 'dxg'].map((name) => `${dev}/${name}`),
      ...folders,
      ...folders.map((folder) => `${folder}/*`),
      `${links}/*`,
      devices,
      groups,
      ...gpuInformationFiles,
    ],
    commands: [],
  },
  async collect({ host }) {
    const listed = await host.listDir(dev);
    if (!listed.ok) return { value: null, unreadable: { because: listed.because, detail: listed.detail } };
    const partial: Gap[] = [];
    const names = await readGroups(host);
    const paths = listed.value.filter(({ name, type }) => type === 'char' && isGpuNode(name)).map(at(dev));
    for (const folder of folders) {
      const inside = await host.listDir(folder);
      if (inside.ok) paths.push(...inside.value.filter(({ type }) => type === 'char').map(at(folder)));
      else if (inside.because !== 'absent') partial.push({ path: 'nodes', because: inside.because });
    }
    if (paths.length > maxNodes) partial.push({ path: 'nodes', because: 'too_many' });
    const nodes: DeviceNode[] = [];
    for (const path of paths.slice(0, maxNodes)) {
      const stat = await host.lstat(path);
      if (stat.ok && stat.value.device) {
        const { mode, uid, gid, device } = stat.value;
        nodes.push({ path, ...device, mode, uid, gid, group: names.get(gid) ?? null });
      } else partial.push({ path: `nodes.${path}`, because: stat.ok ? 'no_device_number' : stat.because });
    }
    const majors = await host.readText(devices);
    if (!majors.ok) partial.push({ path: 'majors', because: majors.because });
    const information = await readGpuInformation(host);
    if (!information.ok) partial.push({ path: 'gpuMinors', because: information.because });
    const value = {
      nodes,
      majors: majors.ok ? parseMajors(majors.value) : {},
      charLinks: await readCharLinks(host, nodes, partial),
      gpuMinors: (information.ok ? information.gpus : []).map(({ address, minor, excluded }) => ({
        address,
        minor,
        excluded,
      })),
    };
    return { value, unreadable: null, partial };
  },
});

function at(folder: string): (entry: { name: string }) => string {
  return ({ name }) => `${folder}/${name}`;
}

async function readGroups(host: HostReader): Promise<Map<number, string>> {
  const read = await host.readText(groups, { maxBytes: 2_000_000 });
  return read.ok ? parseGroups(read.value) : new Map();
}

/** Only the links that the nodes' own numbers name: the folder has one for every device of the machine. */
async function readCharLinks(
  host: HostReader,
  nodes: readonly DeviceNode[],
  partial: Gap[],
): Promise<DeviceNodesFact['charLinks']> {
  const found: DeviceNodesFact['charLinks'] = [];
  for (const { path: node, major, minor } of nodes) {
    const path = `${links}/${major}:${minor}`;
    const target = await host.readLink(path);
    if (!target.ok) {
      if (target.because !== 'absent' && target.because !== 'not_a_file')
        partial.push({ path: 'charLinks', because: target.because });
    } else if (target.value === node || target.value.replace(/^\.\.\//, `${dev}/`) === node)
      found.push({ path, target: target.value });
  }
  return found;
}
