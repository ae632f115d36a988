import { defineProbe } from '../define-probe.ts';
import { kernelReleaseFile } from '../kernel-files.ts';
import type { Gap } from '../parsed.ts';
import { parseCpuInfo, parseMemoryTotal, parseOsRelease } from './parse-os-files.ts';
import { parseScheduledReboot } from './parse-security-files.ts';
import { readSecurity, securityCommands, securityFiles } from './read-security.ts';
import { readVirtualisation, virtualisationCommands, virtualisationFiles } from './read-virtualisation.ts';

const paths = {
  release: '/etc/os-release',
  /** Where the link above leads on a complete system; the only one on minimal images. */
  vendorRelease: '/usr/lib/os-release',
  hostname: '/proc/sys/kernel/hostname',
  kernel: kernelReleaseFile,
  /** Since kernel 6.1. */
  arch: '/proc/sys/kernel/arch',
  cpuInfo: '/proc/cpuinfo',
  memInfo: '/proc/meminfo',
  scheduledShutdown: '/run/systemd/shutdown/scheduled',
};

export const osProbe = defineProbe({
  key: 'os',
  title: 'Operating system, kernel, processors, memory, virtualisation, Secure Boot and what else guards the kernel',
  everyMs: 600_000,
  inputs: {
    files: [...Object.values(paths), ...virtualisationFiles, ...securityFiles],
    commands: [...virtualisationCommands, ...securityCommands],
  },
  async collect({ host }) {
    const partial: Gap[] = [];
    const text = async (path: string, field: string) => {
      const read = await host.readText(path);
      if (!read.ok) partial.push({ path: field, because: read.because });
      return read.ok ? read.value : '';
    };
    const vendor = await host.readText(paths.release);
    const release = vendor.ok ? vendor.value : await text(paths.vendorRelease, 'id');
    const cpuInfo = await text(paths.cpuInfo, 'cpuCount');
    const cpu = parseCpuInfo(cpuInfo);
    const arch = await host.readText(paths.arch);
    const kernel = (await text(paths.kernel, 'kernel')).trim();
    const { bootId, nowMs, uptimeMs } = await host.moment();
    const scheduled = await host.readText(paths.scheduledShutdown);
    const value = {
      ...parseOsRelease(release),
      hostname: (await text(paths.hostname, 'hostname')).trim() || null,
      kernel: kernel || null,
      arch: (arch.ok ? arch.value.trim() : '') || cpu.arch,
      cpuCount: cpu.cpuCount,
      memoryTotalMiB: parseMemoryTotal(await text(paths.memInfo, 'memoryTotalMiB')),
      ...(await readVirtualisation(host, cpuInfo, kernel)),
      ...(await readSecurity(host, partial)),
      rebootScheduledAtMs: scheduled.ok ? parseScheduledReboot(scheduled.value) : null,
      bootId,
      bootedAtMs: Math.round((nowMs - uptimeMs) / 1_000) * 1_000,
    };
    return { value, unreadable: null, partial };
  },
});
