import { containerdConfigPath, criOf, type LiveCri, majorOf } from '../daemons/containerd.ts';
import { loadContainerdConfig } from '../daemons/containerd-config.ts';
import { crioSocket } from '../daemons/crio.ts';
import type { Machine } from '../machine.ts';
import { criInfo } from './cri-info.ts';
import { criPods } from './pods.ts';
import { complained, matches, type Program, printed } from './program.ts';
import { tomlText } from './toml-text.ts';

export const containerd: Program = (machine, args) => {
  if (matches(args, '--version')) {
    const commit = machine.random.hex('containerd/commit', 40);
    return printed(
      `containerd github.com/containerd/containerd${majorOf(machine.versions.containerd) >= 2 ? '/v2' : ''} v${machine.versions.containerd} ${commit}\n`,
    );
  }
  if (matches(args, 'config', 'dump')) return dump(machine, containerdConfigPath);
  const [option, path] = args;
  if (option === '--config' && path !== undefined && matches(args.slice(2), 'config', 'dump'))
    return dump(machine, path);
  return undefined;
};

/** Unlike the daemon, `config dump` of 1.x fails when there is no file. */
function dump(machine: Machine, path: string) {
  const major = majorOf(machine.versions.containerd);
  const loaded = loadContainerdConfig(machine.files, path, major, { fileRequired: major < 2 });
  if (!loaded.ok) return complained(`${loaded.log}\n`);
  const cri = criOf(loaded, major);
  const imports = Array.isArray(loaded.root.imports) ? loaded.root.imports.map(String) : [];
  const disabled = Array.isArray(loaded.root.disabled_plugins) ? loaded.root.disabled_plugins : [];
  const common = {
    version: major >= 2 ? 3 : 2,
    root: '/var/lib/containerd',
    state: '/run/containerd',
    temp: '',
    ...(major >= 2 ? {} : { plugin_dir: '' }),
    disabled_plugins: disabled,
    required_plugins: [],
    oom_score: 0,
    imports: major >= 2 ? imports : [path, ...imports],
    grpc: {
      address: '/run/containerd/containerd.sock',
      tcp_address: '',
      uid: 0,
      gid: 0,
      max_recv_message_size: 16_777_216,
      max_send_message_size: 16_777_216,
    },
    debug: { address: '', uid: 0, gid: 0, level: '', format: '' },
    metrics: { address: '', grpc_histogram: false },
    cgroup: { path: '' },
    timeouts: { 'io.containerd.timeout.shim.cleanup': '5s', 'io.containerd.timeout.shim.load': '5s' },
  };
  const plugins =
    major >= 2
      ? { 'io.containerd.cri.v1.runtime': criSection(cri, major) }
      : { 'io.containerd.grpc.v1.cri': criSection(cri, major) };
  return printed(tomlText({ ...common, plugins: { ...loaded.plugins, ...plugins } }));
}

/** The CRI section with the built-in values of every key that the file leaves out. */
function criSection(cri: LiveCri, major: number) {
  if (cri.state !== 'ok') return {};
  const runtimes = Object.fromEntries(
    Object.entries(cri.runtimes).map(([name, one]) => [
      name,
      {
        runtime_type: one.type,
        runtime_path: '',
        privileged_without_host_devices: one.privilegedWithoutHostDevices,
        privileged_without_host_devices_all_devices_allowed: false,
        base_runtime_spec: '',
        snapshotter: one.snapshotter,
        ...(major >= 2 ? { sandboxer: 'podsandbox', io_type: '' } : { sandbox_mode: 'podsandbox', runtime_root: '' }),
        options: one.options,
      },
    ]),
  );
  return {
    enable_selinux: false,
    selinux_category_range: 1024,
    max_container_log_line_size: 16_384,
    tolerate_missing_hugetlb_controller: true,
    enable_cdi: cri.enableCdi,
    cdi_spec_dirs: ['/etc/cdi', '/var/run/cdi'],
    ...cri.config,
    containerd: { default_runtime_name: cri.defaultRuntime, runtimes },
  };
}

/** Where k3s and rke2 have the socket of their own containerd. */
const rancherEndpoint = 'unix:///run/k3s/containerd/containerd.sock';

export const crictl: Program = (machine, args) => {
  if (matches(args.slice(0, 2), '--runtime-endpoint', rancherEndpoint)) {
    const cri = machine.live.k3s?.cri;
    if (!cri) return complained(unreachable(rancherEndpoint, '/run/k3s/containerd/containerd.sock'));
    if (matches(args.slice(2), 'pods', '-o', 'json')) return criPods(machine);
    if (!matches(args.slice(2), 'info')) return undefined;
    return cri.state === 'ok' ? printed(criInfo(cri, 2)) : complained(unimplemented(rancherEndpoint));
  }
  if (matches(args, '--runtime-endpoint', `unix://${crioSocket}`, 'pods', '-o', 'json'))
    return machine.live.crio ? criPods(machine) : complained(unreachable(`unix://${crioSocket}`, crioSocket));
  if (!matches(args.slice(0, 2), '--runtime-endpoint', 'unix:///run/containerd/containerd.sock')) return undefined;
  const rest = args.slice(2);
  const asksPods = matches(rest, 'pods', '-o', 'json');
  if (!asksPods && !matches(rest, 'info')) return undefined;
  const live = machine.live.containerd;
  if (!live)
    return complained(unreachable('unix:///run/containerd/containerd.sock', '/run/containerd/containerd.sock'));
  if (live.cri.state !== 'ok') return complained(unimplemented('unix:///run/containerd/containerd.sock'));
  return asksPods ? criPods(machine) : printed(criInfo(live.cri, live.major));
};

export function unreachable(endpoint: string, socket: string): string {
  return `FATA[0000] validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix ${socket}: connect: connection refused"\n`;
}

export function unimplemented(endpoint: string): string {
  return `FATA[0000] validate service connection: validate CRI v1 runtime API for endpoint "${endpoint}": rpc error: code = Unimplemented desc = unknown service runtime.v1.RuntimeService\n`;
}

export const ctr: Program = (machine, args) => {
  if (!matches(args, '--address', '/run/containerd/containerd.sock', 'plugins', 'ls')) return undefined;
  const live = machine.live.containerd;
  if (!live) {
    return complained(
      'ctr: failed to dial "/run/containerd/containerd.sock": context deadline exceeded: connection error: desc = "transport: error while dialing: dial unix /run/containerd/containerd.sock: connect: connection refused"\n',
    );
  }
  const platform = machine.os.arch === 'aarch64' ? 'linux/arm64/v8' : 'linux/amd64';
  const status = live.cri.state === 'error' ? 'error' : 'ok';
  const cri =
    live.cri.state === 'disabled'
      ? []
      : live.major >= 2
        ? [
            ['io.containerd.cri.v1', 'images', platform, 'ok'],
            ['io.containerd.cri.v1', 'runtime', platform, status],
            ['io.containerd.grpc.v1', 'cri', platform, status],
          ]
        : [['io.containerd.grpc.v1', 'cri', platform, status]];
  const rows = [
    ['TYPE', 'ID', 'PLATFORMS', 'STATUS'],
    ['io.containerd.content.v1', 'content', '-', 'ok'],
    ['io.containerd.snapshotter.v1', 'native', platform, 'ok'],
    ['io.containerd.snapshotter.v1', 'overlayfs', platform, 'ok'],
    ['io.containerd.metadata.v1', 'bolt', '-', 'ok'],
    ['io.containerd.runtime.v2', 'task', platform, 'ok'],
    ['io.containerd.grpc.v1', 'containers', '-', 'ok'],
    ['io.containerd.grpc.v1', 'images', '-', 'ok'],
    ['io.containerd.grpc.v1', 'version', '-', 'ok'],
    ...cri,
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)) + 4);
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 10)).join(''));
  return printed(`${lines.join('\n')}\n`);
};
