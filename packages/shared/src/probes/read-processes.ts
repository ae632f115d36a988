import type { HostReader } from '../host/index.ts';
import { parseCgroup } from './parse-cgroup.ts';
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
  const { service, inContainer } = parseCgroup(cgroup.ok ? cgroup.value : '');
  return {
    pid,
    argv: splitArguments(cmdline.value),
    exe: exe.ok ? exe.value.replace(/ \(deleted\)$/, '') : null,
    replaced: exe.ok && exe.value.endsWith(' (deleted)'),
    unit: service,
    inContainer,
  };
}

/** `/proc/PID/cmdline`: each word ends with NUL. */
export function splitArguments(text: string): string[] {
  return text.split('\0').filter((word) => word !== '');
}
