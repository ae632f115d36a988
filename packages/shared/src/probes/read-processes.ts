import type { HostReader } from '../host/index.ts';
import type { Gap } from './parsed.ts';

/** What a probe declares that looks for processes by name. */
export const processFiles = ['/proc', '/proc/*/comm', '/proc/*/cmdline', '/proc/*/exe', '/proc/*/cgroup'] as const;

export interface Process {
  pid: number;
  argv: string[];
  /** The program's file; null without the right to see it. */
  exe: string | null;
  /** The file is gone or was replaced since the process started. */
  replaced: boolean;
  /** The systemd unit around it. */
  unit: string | null;
  /** It runs in a container: its paths are not the host's. */
  inContainer: boolean;
}

/** A host with more is told of, not read for minutes. */
const maxProcesses = 20_000;

/** Processes by the name that the kernel keeps of them, in order of their ids. Never throws for those that end meanwhile. */
export async function readProcesses(host: HostReader, name: string, gaps: Gap[]): Promise<Process[]> {
  const listed = await host.listDir('/proc');
  if (!listed.ok) {
    gaps.push({ path: 'instances', because: listed.because });
    return [];
  }
  const pids = listed.value.map((entry) => Number(entry.name)).filter((pid) => Number.isSafeInteger(pid) && pid > 0);
  if (pids.length > maxProcesses) gaps.push({ path: 'instances', because: 'too_many_processes' });
  const found: Process[] = [];
  for (const pid of pids.slice(0, maxProcesses).sort((a, b) => a - b)) {
    const comm = await host.readText(`/proc/${pid}/comm`, { maxBytes: 64 });
    if (comm.ok && comm.value.trimEnd() === name) {
      const one = await readProcess(host, pid);
      if (one !== null) found.push(one);
    }
  }
  return found;
}

async function readProcess(host: HostReader, pid: number): Promise<Process | null> {
  const cmdline = await host.readText(`/proc/${pid}/cmdline`, { maxBytes: 65_536 });
  if (!cmdline.ok) return null;
  const exe = await host.readLink(`/proc/${pid}/exe`);
  const cgroup = await host.readText(`/proc/${pid}/cgroup`, { maxBytes: 65_536 });
  return {
    pid,
    argv: cmdline.value.split('\0').filter((word) => word !== ''),
    exe: exe.ok ? exe.value.replace(/ \(deleted\)$/, '') : null,
    replaced: exe.ok && exe.value.endsWith(' (deleted)'),
    ...parseCgroup(cgroup.ok ? cgroup.value : ''),
  };
}

/** `/proc/PID/cgroup` of either version: the unit, and whether a container is around the process. */
export function parseCgroup(text: string): { unit: string | null; inContainer: boolean } {
  const paths = text
    .split('\n')
    .map((line) => /^\d+:(|name=systemd|[^:]*):(\/.*)$/.exec(line)?.[2] ?? null)
    .filter((path) => path !== null);
  const unitOf = (path: string) => path.split('/').findLast((part) => part.endsWith('.service')) ?? null;
  const containers = /(^|\/)(docker|cri-containerd|crio|libpod|kubepods)[-./:]|\/kubepods|\/lxc\/|\/[0-9a-f]{64}(\/|$)/;
  const units = paths.map(unitOf).filter((unit) => unit !== null);
  // A unit may be called docker.service: what is around it counts, not its own name.
  const around = paths.map((path) => path.replace(/[^/]*\.service/g, ''));
  return { unit: units[0] ?? null, inContainer: around.some((path) => containers.test(path)) };
}
