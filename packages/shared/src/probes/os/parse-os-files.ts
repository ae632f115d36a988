/** /etc/os-release: shell-like assignments; quotes are optional, comments and unknown keys are skipped. */
export function parseOsRelease(text: string): {
  id: string | null;
  versionId: string | null;
  prettyName: string | null;
} {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*([A-Z_0-9]+)=(.*?)\s*$/.exec(line);
    if (match?.[1] !== undefined) fields.set(match[1], (match[2] ?? '').replace(/^(['"])(.*)\1$/, '$2'));
  }
  return {
    id: fields.get('ID') || null,
    versionId: fields.get('VERSION_ID') || null,
    prettyName: fields.get('PRETTY_NAME') || null,
  };
}

/** /proc/cpuinfo: number of processors, and the machine name by what each architecture's kernel prints. */
export function parseCpuInfo(text: string): { cpuCount: number | null; arch: string | null } {
  const cpuCount = text.match(/^processor\s*:/gm)?.length ?? 0;
  const flags = /^flags\s*:(.*)$/m.exec(text)?.[1];
  const arm = /^CPU architecture\s*:\s*(\d+|AArch64)/m.exec(text)?.[1];
  let arch: string | null = null;
  if (flags !== undefined) arch = /(^|\s)lm(\s|$)/.test(flags) ? 'x86_64' : 'i686';
  else if (arm !== undefined) arch = arm === 'AArch64' || Number(arm) >= 8 ? 'aarch64' : 'armv7l';
  return { cpuCount: cpuCount > 0 ? cpuCount : null, arch };
}

/** /proc/meminfo: total memory, rounded down to MiB. */
export function parseMemoryTotal(text: string): number | null {
  const kiB = /^MemTotal:\s+(\d{1,15}) kB/m.exec(text)?.[1];
  return kiB === undefined ? null : Math.floor(Number(kiB) / 1024);
}
