import type { Machine } from '../machine.ts';
import type { Unit } from '../unit.ts';

export interface Distribution {
  id: 'debian' | 'ubuntu';
  versionId: string;
  codename: string;
  prettyName: string;
  kernel: string;
}

export const distributions = {
  bookworm: {
    id: 'debian',
    versionId: '12',
    codename: 'bookworm',
    prettyName: 'Debian GNU/Linux 12 (bookworm)',
    kernel: '6.1.0-31-amd64',
  },
  jammy: {
    id: 'ubuntu',
    versionId: '22.04',
    codename: 'jammy',
    prettyName: 'Ubuntu 22.04.5 LTS',
    kernel: '5.15.0-139-generic',
  },
  noble: {
    id: 'ubuntu',
    versionId: '24.04',
    codename: 'noble',
    prettyName: 'Ubuntu 24.04.2 LTS',
    kernel: '6.8.0-60-generic',
  },
} as const satisfies Record<string, Distribution>;

export interface Hardware {
  memoryGiB: number;
  cpus: number;
  cpuModel: string;
}

/** Everything that any Linux machine has and a probe may look at. */
export function installBase(machine: Machine, distribution: Distribution, hardware: Hardware): void {
  const { files, random, name } = machine;
  machine.os.kernel = distribution.kernel;
  files.put('/usr/lib/os-release', osRelease(distribution));
  files.putLink('/etc/os-release', '../usr/lib/os-release');
  files.put('/etc/hostname', `${name}\n`);
  files.put('/etc/machine-id', `${random.hex('machine-id', 32)}\n`, { mode: 0o444 });
  files.put('/etc/timezone', `${machine.os.timezone}\n`);
  files.put(`/usr/share/zoneinfo/${machine.os.timezone}`, 'TZif2');
  files.putLink('/etc/localtime', `/usr/share/zoneinfo/${machine.os.timezone}`);
  for (const dir of ['/usr/bin', '/usr/sbin', '/usr/lib', '/usr/local/bin', '/dev', '/tmp', '/var/lib', '/run']) {
    files.putDir(dir);
  }
  for (const dir of ['bin', 'sbin', 'lib']) files.putLink(`/${dir}`, `usr/${dir}`);
  files.putLink('/var/run', '/run');
  for (const program of ['systemctl', 'modinfo', 'uname']) installProgram(machine, `/usr/bin/${program}`);
  files.put('/proc/sys/kernel/hostname', () => `${name}\n`);
  files.put('/proc/sys/kernel/osrelease', () => `${machine.os.kernel}\n`);
  if (!/^[1-5]\./.test(distribution.kernel)) files.put('/proc/sys/kernel/arch', () => `${machine.os.arch}\n`);
  files.put('/proc/sys/kernel/random/boot_id', () => `${machine.boot.id}\n`);
  files.put('/proc/uptime', () => {
    const seconds = ((machine.clock.monotonicMs() - machine.boot.atMonotonicMs) / 1000).toFixed(2);
    return `${seconds} ${seconds}\n`;
  });
  files.put('/proc/version', () => `Linux version ${machine.os.kernel} (builder@example.com) #1 SMP\n`);
  files.put('/proc/meminfo', () => memInfo(hardware.memoryGiB));
  files.put('/proc/cpuinfo', () => cpuInfo(machine.os.arch, hardware));
  files.put('/proc/1/cgroup', () => '0::/init.scope\n');
  files.put('/proc/modules', () => modules(machine));
  for (const bus of ['cpu', 'platform', 'usb']) files.putDir(`/sys/bus/${bus}/devices`);
}

/** A program file; its bytes never matter, its presence and age do. */
export function installProgram(machine: Machine, path: string): void {
  machine.files.put(path, '\u007fELF', { mode: 0o755 });
}

interface NewUnit {
  name: string;
  description: string;
  exec: string;
  type?: string;
  enabled?: Unit['enabled'];
  /** Seconds; absent: no automatic restart. */
  restartSec?: number;
  burst?: number;
  folder?: string;
}

/** Writes a unit file and makes systemd know it. */
export function installUnit(machine: Machine, unit: NewUnit): void {
  const path = `${unit.folder ?? '/usr/lib/systemd/system'}/${unit.name}`;
  const restart = unit.restartSec === undefined ? '' : `Restart=always\nRestartSec=${unit.restartSec}\n`;
  const limit = unit.burst === undefined ? '' : `StartLimitBurst=${unit.burst}\nStartLimitInterval=60s\n`;
  machine.files.put(
    path,
    `[Unit]\nDescription=${unit.description}\nAfter=network-online.target\nWants=network-online.target\n\n[Service]\nType=${unit.type ?? 'notify'}\nExecStart=${unit.exec}\n${restart}${limit}Delegate=yes\nKillMode=process\n\n[Install]\nWantedBy=multi-user.target\n`,
  );
  const enabled = unit.enabled ?? 'enabled';
  if (enabled === 'enabled') machine.files.putLink(`/etc/systemd/system/multi-user.target.wants/${unit.name}`, path);
  machine.units.set(unit.name, {
    name: unit.name,
    description: unit.description,
    path,
    active: 'inactive',
    sub: 'dead',
    result: 'success',
    enabled,
    startedAtMs: null,
    pid: 0,
    restartAfterMs: unit.restartSec === undefined ? null : unit.restartSec * 1000,
    burst: unit.burst ?? null,
    failures: 0,
    retryAtMs: null,
    exec: [],
    log: [],
    afterStop: 'stop',
  });
}

function osRelease(distribution: Distribution): string {
  const { id, versionId, codename, prettyName } = distribution;
  const title = id === 'debian' ? 'Debian GNU/Linux' : 'Ubuntu';
  return `PRETTY_NAME="${prettyName}"\nNAME="${title}"\nVERSION_ID="${versionId}"\nVERSION_CODENAME=${codename}\nID=${id}\n${id === 'ubuntu' ? 'ID_LIKE=debian\n' : ''}`;
}

function memInfo(memoryGiB: number): string {
  // The kernel and firmware keep a few per cent to themselves.
  const total = Math.floor(memoryGiB * 1024 * 1024 * 0.97);
  const row = (name: string, kiB: number) => `${`${name}:`.padEnd(16)}${String(kiB).padStart(8)} kB\n`;
  return (
    row('MemTotal', total) +
    row('MemFree', Math.floor(total * 0.6)) +
    row('MemAvailable', Math.floor(total * 0.8)) +
    row('SwapTotal', 0)
  );
}

function cpuInfo(arch: 'x86_64' | 'aarch64', { cpus, cpuModel }: Hardware): string {
  return Array.from({ length: cpus }, (_, at) =>
    arch === 'x86_64'
      ? `processor\t: ${at}\nvendor_id\t: AuthenticAMD\nmodel name\t: ${cpuModel}\nflags\t\t: fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge lm constant_tsc svm\n\n`
      : `processor\t: ${at}\nBogoMIPS\t: 62.50\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd42\nCPU revision\t: 1\n\n`,
  ).join('');
}

function modules(machine: Machine): string {
  const row = (module: string, size: number, users: string) => `${module} ${size} ${users} Live 0x0000000000000000\n`;
  const common =
    row('overlay', 151552, '12 -') + row('br_netfilter', 32768, '0 -') + row('xt_MASQUERADE', 20480, '1 -');
  const orin = machine.gpus.some(({ model }) => model.kind === 'orin') ? row('nvgpu', 2654208, '24 -') : '';
  const rows: Record<string, [size: number, users: string]> = {
    nvidia_uvm: [1789952, '0 -'],
    nvidia_drm: [131072, '0 -'],
    nvidia_modeset: [1724416, '1 nvidia_drm,'],
    nvidia: [11587584, orin ? '1 nvidia_modeset,' : '19 nvidia_uvm,nvidia_modeset,'],
    mlx5_ib: [450560, '0 -'],
    mlx5_core: [2195456, '1 mlx5_ib,'],
    ib_umad: [45056, '0 -'],
  };
  const loaded = Object.entries(rows).filter(([name]) => machine.modules.has(name));
  return orin + loaded.map(([name, [size, users]]) => row(name, size, users)).join('') + common;
}
