import type { HostReader, OpenFiles } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import { modulesFile } from '../kernel-files.ts';
import { parseCgroup } from '../parse-cgroup.ts';
import { type Gap, isCut } from '../parsed.ts';
import type { GpuHolder } from './fact.ts';
import { parseModuleUsers } from './parse-module-users.ts';

/** One of them is there wherever there is a GPU that something could hold. */
const anyNode = ['/dev/nvidiactl', '/dev/nvmap', '/dev/nvhost-ctrl'];
const prefixes = ['/dev/nvidia', '/dev/nvmap', '/dev/nvhost'];
/** More are not named one by one. */
const mostHolders = 256;

export const gpuHoldersProbe = defineProbe({
  key: 'gpu_holders',
  title: 'Processes, services, containers and kernel modules that have GPUs open',
  everyMs: 300_000,
  inputs: {
    files: [
      ...anyNode,
      modulesFile,
      '/proc',
      ...['fd', 'fd/*', 'comm', 'exe', 'cgroup'].map((name) => `/proc/*/${name}`),
    ],
    commands: [],
  },
  async collect({ host }) {
    const partial: Gap[] = [];
    const modules = await readModules(host, partial);
    if (await lacksNodes(host)) return { value: { holders: modules }, unreadable: null, partial };
    const found = await host.openFiles(prefixes);
    const { open, read, unread, complete } = found.ok ? found.value : nobody;
    const denied = unread[0]?.because;
    // A host where no process can be looked into has processes all the same.
    const because = found.ok
      ? (denied ?? (read.length === 0 && open.length === 0 ? 'no_processes' : null))
      : found.because;
    // The path does not name the processes: they come and go, and the gap is the same.
    if (because !== null) partial.push({ path: 'holders', because });
    const pids = [...new Set(open.map(({ pid }) => pid))];
    if (!complete || pids.length > mostHolders) partial.push({ path: 'holders', because: 'too_many' });
    const processes: GpuHolder[] = [];
    for (const pid of pids.slice(0, mostHolders)) processes.push(await toHolder(host, pid, open));
    return { value: { holders: [...processes, ...modules] }, unreadable: null, partial };
  },
});

const nobody: OpenFiles = { open: [], read: [], unread: [], complete: true };

/** True only when all are surely absent. */
async function lacksNodes(host: HostReader): Promise<boolean> {
  for (const path of anyNode) {
    const found = await host.lstat(path);
    if (found.ok || found.because !== 'absent') return false;
  }
  return true;
}

async function toHolder(host: HostReader, pid: number, open: OpenFiles['open']): Promise<GpuHolder> {
  // A process that has ended meanwhile is still named: it held the GPU when it was looked at.
  const comm = await host.readText(`/proc/${pid}/comm`);
  const exe = await host.readLink(`/proc/${pid}/exe`);
  const cgroup = await host.readText(`/proc/${pid}/cgroup`);
  const { unit, containerId, pod } = parseCgroup(cgroup.ok ? cgroup.value : '');
  return {
    kind: 'process',
    pid,
    name: (comm.ok && comm.value.trim().slice(0, 64)) || `pid ${pid}`,
    command: exe.ok ? exe.value.slice(0, 256) : null,
    paths: [...new Set(open.flatMap((file) => (file.pid === pid ? [file.path] : [])))].sort(),
    unit,
    containerId,
    pod,
    useCount: null,
  };
}

async function readModules(host: HostReader, partial: Gap[]): Promise<GpuHolder[]> {
  const read = await host.readText(modulesFile);
  if (!read.ok) {
    // A kernel without loadable modules has no such file.
    if (read.because !== 'absent') partial.push({ path: 'holders', because: read.because });
    return [];
  }
  if (isCut(read.value)) partial.push({ path: 'holders', because: 'truncated' });
  const none = { pid: null, command: null, paths: [], unit: null, containerId: null, pod: null };
  return parseModuleUsers(read.value).map((module) => ({ kind: 'kernel_module', ...none, ...module }));
}
