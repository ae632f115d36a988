import { loadDockerConfig } from '../daemons/docker.ts';
import { type Machine, nowMs } from '../machine.ts';
import { dockerContainer } from './docker-container.ts';
import { complained, matches, type Program, printed } from './program.ts';

export const docker: Program = (machine, args) => {
  if (!matches(args, 'info', '--format', '{{json .}}')) return dockerContainer(machine, args);
  if (machine.live.docker) return printed(`${JSON.stringify(serverInfo(machine))}\n`);
  // With a format the client prints an empty answer and ends with 0: only ServerErrors and stderr tell.
  const empty = { ID: '', Containers: 0, Driver: '', Runtimes: null, DefaultRuntime: '', ServerErrors: [notRunning] };
  const stdout = `${JSON.stringify({ ...empty, ClientInfo: clientInfo(machine) })}\n`;
  return { exitCode: 0, stdout, stderr: `${notRunning}\n` };
};

export const dockerd: Program = (machine, args) => {
  if (matches(args, '--version')) {
    return printed(`Docker version ${machine.versions.docker}, build ${machine.random.hex('docker/build', 7)}\n`);
  }
  const [validate, option, path] = args;
  if (args.length !== 3 || validate !== '--validate' || option !== '--config-file' || path === undefined) {
    return undefined;
  }
  if (!machine.files.has(path)) {
    return complained(
      `unable to configure the Docker daemon with file ${path}: open ${path}: no such file or directory\n`,
    );
  }
  const loaded = loadDockerConfig(machine, path);
  return loaded.ok ? { exitCode: 0, stdout: '', stderr: 'configuration OK\n' } : complained(`${loaded.log}\n`);
};

const notRunning = 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?';

function clientInfo(machine: Machine) {
  return {
    Debug: false,
    Version: machine.versions.docker,
    GitCommit: machine.random.hex('docker/client', 7),
    GoVersion: 'go1.23.9',
    Os: 'linux',
    Arch: machine.os.arch === 'aarch64' ? 'arm64' : 'amd64',
    BuildTime: 'Fri Apr 18 09:52:10 2025',
    Context: 'default',
    Plugins: [],
    Warnings: null,
  };
}

function serverInfo(machine: Machine) {
  const live = machine.live.docker;
  if (!live) throw new Error('dockerd is not running');
  const runtimes = Object.fromEntries(
    Object.entries(live.runtimes).map(([name, one]) => [
      name,
      { path: one.path ?? '', ...(one.runtimeArgs?.length ? { runtimeArgs: one.runtimeArgs } : {}), ...features },
    ]),
  );
  return {
    ID: machine.random.uuid('docker/id'),
    Containers: machine.containers + 1,
    ContainersRunning: machine.containers,
    ContainersPaused: 0,
    ContainersStopped: 1,
    Images: machine.containers + 3,
    Driver: 'overlay2',
    DriverStatus: [
      ['Backing Filesystem', 'extfs'],
      ['Supports d_type', 'true'],
      ['Using metacopy', 'false'],
      ['Native Overlay Diff', 'true'],
      ['userxattr', 'false'],
    ],
    Plugins: {
      Volume: ['local'],
      Network: ['bridge', 'host', 'ipvlan', 'macvlan', 'null', 'overlay'],
      Authorization: null,
      Log: ['awslogs', 'fluentd', 'gcplogs', 'gelf', 'journald', 'json-file', 'local', 'splunk', 'syslog'],
    },
    MemoryLimit: true,
    SwapLimit: true,
    CpuCfsPeriod: true,
    CpuCfsQuota: true,
    CPUShares: true,
    CPUSet: true,
    PidsLimit: true,
    IPv4Forwarding: true,
    Debug: false,
    NFd: 23,
    OomKillDisable: false,
    NGoroutines: 43,
    SystemTime: new Date(nowMs(machine)).toISOString(),
    LoggingDriver: 'json-file',
    CgroupDriver: live.cgroupDriver,
    CgroupVersion: '2',
    NEventsListener: 0,
    KernelVersion: machine.os.kernel,
    OperatingSystem: /PRETTY_NAME="(.*)"/.exec(machine.files.text('/etc/os-release') ?? '')?.[1] ?? 'Linux',
    OSVersion: /VERSION_ID="(.*)"/.exec(machine.files.text('/etc/os-release') ?? '')?.[1] ?? '',
    OSType: 'linux',
    Architecture: machine.os.arch,
    IndexServerAddress: 'https://index.docker.io/v1/',
    RegistryConfig: {
      IndexConfigs: { 'docker.io': { Mirrors: [], Name: 'docker.io', Official: true, Secure: true } },
      InsecureRegistryCIDRs: ['::1/128', '127.0.0.0/8'],
      Mirrors: [],
    },
    NCPU: cpuCount(machine),
    MemTotal: 1024 * Number(/MemTotal:\s+(\d+) kB/.exec(machine.files.text('/proc/meminfo') ?? '')?.[1] ?? 0),
    GenericResources: null,
    DockerRootDir: live.dataRoot,
    HttpProxy: '',
    HttpsProxy: '',
    NoProxy: '',
    Name: machine.name,
    Labels: [],
    ExperimentalBuild: false,
    ServerVersion: machine.versions.docker,
    Runtimes: runtimes,
    DefaultRuntime: live.defaultRuntime,
    Swarm: {
      NodeID: '',
      NodeAddr: '',
      LocalNodeState: 'inactive',
      ControlAvailable: false,
      Error: '',
      RemoteManagers: null,
    },
    LiveRestoreEnabled: live.liveRestore,
    Isolation: '',
    InitBinary: 'docker-init',
    ContainerdCommit: { ID: machine.random.hex('containerd/commit', 40) },
    RuncCommit: { ID: `v1.2.5-0-g${machine.random.hex('runc/commit', 7)}` },
    InitCommit: { ID: 'de40ad0' },
    SecurityOptions: ['name=apparmor', 'name=seccomp,profile=builtin', 'name=cgroupns'],
    Containerd: {
      Address: '/run/containerd/containerd.sock',
      Namespaces: { Containers: 'moby', Plugins: 'plugins.moby' },
    },
    ...(live.cdi ? { CDISpecDirs: ['/etc/cdi', '/var/run/cdi'] } : { CDISpecDirs: [] }),
    Warnings: null,
    ClientInfo: clientInfo(machine),
  };
}

const features = { status: { 'org.opencontainers.runtime-spec.features': '{"ociVersionMin":"1.0.0"}' } };

function cpuCount(machine: Machine): number {
  return (machine.files.text('/proc/cpuinfo') ?? '').split('\n').filter((line) => line.startsWith('processor')).length;
}
