import type { LiveCri } from '../daemons/containerd.ts';

/** The answer of `crictl info`: what the running CRI plugin says of itself. */
export function criInfo(cri: LiveCri & { state: 'ok' }, major: number): string {
  const runtimes = Object.fromEntries(
    Object.entries(cri.runtimes).map(([name, one]) => [
      name,
      {
        baseRuntimeSpec: '',
        ...(major >= 2 ? { cgroupWritable: false } : {}),
        cniConfDir: '',
        cniMaxConfNum: 0,
        [major >= 2 ? 'containerAnnotations' : 'ContainerAnnotations']: null,
        ...(major >= 2 ? { io_type: '' } : {}),
        options: one.options,
        [major >= 2 ? 'podAnnotations' : 'PodAnnotations']: null,
        privileged_without_host_devices: one.privilegedWithoutHostDevices,
        privileged_without_host_devices_all_devices_allowed: false,
        runtimePath: '',
        ...(major >= 2 ? {} : { runtimeRoot: '' }),
        runtimeType: one.type,
        [major >= 2 ? 'sandboxer' : 'sandboxMode']: 'podsandbox',
        snapshotter: one.snapshotter,
      },
    ]),
  );
  const info = {
    cniconfig: {
      Networks: [{ Config: { CNIVersion: '0.3.1', Name: 'cni-loopback', Plugins: [] }, IFName: 'lo' }],
      PluginConfDir: '/etc/cni/net.d',
      PluginDirs: ['/opt/cni/bin'],
      PluginMaxConfNum: 1,
      Prefix: 'eth',
    },
    config: {
      cdiSpecDirs: ['/etc/cdi', '/var/run/cdi'],
      cni: {
        ...(major >= 2 ? { binDirs: ['/opt/cni/bin'] } : { binDir: '/opt/cni/bin' }),
        confDir: '/etc/cni/net.d',
        confTemplate: '',
        ipPref: '',
        maxConfNum: 1,
        setupSerially: false,
      },
      containerd: {
        defaultRuntimeName: cri.defaultRuntime,
        ...(major >= 2 ? {} : { disableSnapshotAnnotations: true, discardUnpackedLayers: false }),
        ignoreBlockIONotEnabledErrors: false,
        ignoreRdtNotEnabledErrors: false,
        runtimes,
        ...(major >= 2 ? {} : { snapshotter: 'overlayfs' }),
      },
      containerdEndpoint: '/run/containerd/containerd.sock',
      containerdRootDir: '/var/lib/containerd',
      disableApparmor: false,
      enableCDI: cri.enableCdi,
      enableSelinux: false,
      maxContainerLogLineSize: 16_384,
      rootDir: '/var/lib/containerd/io.containerd.grpc.v1.cri',
      ...(major >= 2 ? {} : { sandboxImage: 'registry.k8s.io/pause:3.9' }),
      stateDir: '/run/containerd/io.containerd.grpc.v1.cri',
      tolerateMissingHugetlbController: true,
    },
    golang: major >= 2 ? 'go1.24.6' : 'go1.22.8',
    lastCNILoadStatus: 'OK',
    'lastCNILoadStatus.default': 'OK',
    ...(major >= 2 ? { runtimeHandlers: handlers(Object.keys(cri.runtimes)) } : {}),
    status: {
      conditions: [
        { message: '', reason: '', status: true, type: 'RuntimeReady' },
        { message: '', reason: '', status: true, type: 'NetworkReady' },
        ...(major >= 2 ? [{ message: '', reason: '', status: true, type: 'ContainerdHasNoDeprecationWarnings' }] : []),
      ],
    },
  };
  return `${JSON.stringify(info, plainNumbers, 2)}\n`;
}

/** The default handler is listed once more without a name. */
function handlers(names: string[]) {
  const features = { recursive_read_only_mounts: true, user_namespaces: true };
  return [{ features }, ...names.map((name) => ({ features, name }))];
}

/** Integers of a TOML file are bigints here; JSON knows one kind of number. */
function plainNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
