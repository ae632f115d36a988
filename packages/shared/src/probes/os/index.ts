import { defineProbe, type ProbeContext } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import { parseCpuInfo, parseMemoryTotal, parseOsRelease } from './parse-os-files.ts';

const paths = {
  release: '/etc/os-release',
  /** Where the link above leads on a complete system; the only one on minimal images. */
  vendorRelease: '/usr/lib/os-release',
  hostname: '/proc/sys/kernel/hostname',
  kernel: '/proc/sys/kernel/osrelease',
  /** Since kernel 6.1. */
  arch: '/proc/sys/kernel/arch',
  cpuInfo: '/proc/cpuinfo',
  memInfo: '/proc/meminfo',
};
/** Files that a container engine or systemd-nspawn leaves for the processes inside. */
const containerMarks = ['/.dockerenv', '/run/.containerenv', '/run/systemd/container'];
const firstProcessCgroup = '/proc/1/cgroup';

export const osProbe = defineProbe({
  key: 'os',
  title: 'Operating system, kernel, processors and memory',
  everyMs: 600_000,
  inputs: { files: [...Object.values(paths), ...containerMarks, firstProcessCgroup], commands: [] },
  async collect(context) {
    const partial: Gap[] = [];
    const text = async (path: string, field: string) => {
      const read = await context.host.readText(path);
      if (!read.ok) partial.push({ path: field, because: read.because });
      return read.ok ? read.value : '';
    };
    const vendor = await context.host.readText(paths.release);
    const release = vendor.ok ? vendor.value : await text(paths.vendorRelease, 'id');
    const cpu = parseCpuInfo(await text(paths.cpuInfo, 'cpuCount'));
    const arch = await context.host.readText(paths.arch);
    const value = {
      ...parseOsRelease(release),
      hostname: (await text(paths.hostname, 'hostname')).trim() || null,
      kernel: (await text(paths.kernel, 'kernel')).trim() || null,
      arch: (arch.ok ? arch.value.trim() : '') || cpu.arch,
      cpuCount: cpu.cpuCount,
      memoryTotalMiB: parseMemoryTotal(await text(paths.memInfo, 'memoryTotalMiB')),
      insideContainer: await isInsideContainer(context),
    };
    return { value, unreadable: null, partial };
  },
});

async function isInsideContainer({ host }: ProbeContext): Promise<boolean> {
  for (const path of containerMarks) {
    const stat = await host.stat(path);
    if (stat.ok) return true;
  }
  const cgroup = await host.readText(firstProcessCgroup);
  return cgroup.ok && /\/(docker|kubepods|containerd|lxc|libpod)\b/.test(cgroup.value);
}
