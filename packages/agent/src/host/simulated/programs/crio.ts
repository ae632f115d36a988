import type { Table } from '../daemons/containerd-config.ts';
import { crioSocket, type LiveCrio } from '../daemons/crio.ts';
import type { Machine } from '../machine.ts';
import { complained, matches, type Program, printed } from './program.ts';
import { tomlText } from './toml-text.ts';

export const crio: Program = (machine, args) => {
  if (matches(args, '--version')) return printed(version(machine));
  if (!matches(args, 'status', 'config')) return undefined;
  const live = machine.live.crio;
  if (live) return printed(tomlText(configOf(live)));
  return complained(
    `time="${new Date(machine.clock.nowMs()).toISOString().slice(0, 19)}Z" level=fatal msg="Get \\"http://unix/config\\": dial unix ${crioSocket}: connect: no such file or directory"\n`,
  );
};

function version(machine: Machine): string {
  const rows = [
    ['Version', machine.versions.crio],
    ['GitCommit', machine.random.hex('crio/commit', 40)],
    ['GitCommitDate', '2025-08-01T00:20:58Z'],
    ['GitTreeState', 'dirty'],
    ['BuildDate', '1970-01-01T00:00:00Z'],
    ['GoVersion', 'go1.24.3'],
    ['Compiler', 'gc'],
    ['Platform', 'linux/amd64'],
    ['Linkmode', 'static'],
    ['SeccompEnabled', 'true'],
    ['AppArmorEnabled', 'true'],
  ];
  const lines = rows.map(([name, value]) => `${`${name}:`.padEnd(16)} ${value}\n`);
  return `crio version ${machine.versions.crio}\n${lines.join('')}`;
}

/** The tables that matter to runtimes, of the many that it prints. */
function configOf({ runtimes, defaultRuntime, settings }: LiveCrio): Table {
  const tables = Object.entries(runtimes).map(([name, { path, type }]) => [
    name,
    {
      runtime_config_path: '',
      runtime_path: path,
      runtime_type: type,
      runtime_root: `/run/${name}`,
      allowed_annotations: [],
      privileged_without_host_devices: false,
      monitor_path: '/usr/libexec/crio/conmon',
      monitor_cgroup: 'system.slice',
      container_min_memory: '12MiB',
      no_sync_log: false,
    },
  ]);
  return {
    crio: {
      root: '/var/lib/containers/storage',
      runroot: '/run/containers/storage',
      storage_driver: '',
      log_dir: '/var/log/crio/pods',
      api: { listen: crioSocket, stream_address: '127.0.0.1', stream_port: '0' },
      runtime: {
        seccomp_profile: '',
        no_pivot: false,
        selinux: false,
        log_level: 'info',
        cgroup_manager: 'systemd',
        cdi_spec_dirs: ['/etc/cdi', '/var/run/cdi'],
        ...settings,
        default_runtime: defaultRuntime,
        runtimes: Object.fromEntries(tables),
      },
      image: { pause_image: 'registry.k8s.io/pause:3.10' },
      network: { network_dir: '/etc/cni/net.d/', plugin_dirs: ['/opt/cni/bin/'] },
    },
  };
}
