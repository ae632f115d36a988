import {
  microk8sCommon,
  microk8sData,
  microk8sEndpoint,
  microk8sRevision,
  microk8sSnap,
  microk8sTemplate,
} from '../daemons/microk8s.ts';
import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';
import { certificate } from './engines.ts';
import { emptyNode } from './workloads.ts';

const daemons = [
  ['containerd', 'Service for snap application microk8s.daemon-containerd'],
  ['k8s-dqlite', 'Service for snap application microk8s.daemon-k8s-dqlite'],
  ['kubelite', 'Service for snap application microk8s.daemon-kubelite'],
  ['cluster-agent', 'Service for snap application microk8s.daemon-cluster-agent'],
] as const;

/** A cluster of one node from the snap: everything lies in its own folders, crictl is not among it. */
export function installMicrok8s(machine: Machine, version: string, cluster: string): void {
  machine.versions.microk8s = version;
  const { files } = machine;
  const kubeletDir = `${microk8sCommon}/var/lib/kubelet`;
  for (const path of ['/usr/bin/snap', `${microk8sSnap}/kubectl`, `${microk8sSnap}/bin/containerd`])
    installProgram(machine, path);
  for (const folder of ['/snap/microk8s', '/var/snap/microk8s']) files.putLink(`${folder}/current`, microk8sRevision);
  files.putLink('/snap/bin/microk8s', '/usr/bin/snap');
  files.put(
    `${microk8sSnap}/meta/snap.yaml`,
    `name: microk8s\nversion: ${version}\nsummary: Kubernetes for workstations and appliances\nbase: core20\nconfinement: classic\n`,
  );
  for (const [name, description] of daemons)
    installUnit(machine, {
      name: `snap.microk8s.daemon-${name}.service`,
      description,
      exec: `/usr/bin/snap run microk8s.daemon-${name}`,
      type: name === 'containerd' || name === 'kubelite' ? 'notify' : 'simple',
      restartSec: 1,
      folder: '/etc/systemd/system',
    });
  files.put(
    `${microk8sData}/args/containerd`,
    `--config \${SNAP_DATA}/args/containerd.toml\n--root \${SNAP_COMMON}/var/lib/containerd\n--state \${SNAP_COMMON}/run/containerd\n--address \${SNAP_COMMON}/run/containerd.sock\n`,
  );
  files.put(
    `${microk8sData}/args/kubelet`,
    `--kubeconfig=\${SNAP_DATA}/credentials/kubelet.config\n--cert-dir=\${SNAP_DATA}/certs\n--client-ca-file=\${SNAP_DATA}/certs/ca.crt\n--anonymous-auth=false\n--root-dir=\${SNAP_COMMON}/var/lib/kubelet\n--fail-swap-on=false\n--container-runtime-endpoint=\${SNAP_COMMON}/run/containerd.sock\n--node-labels="microk8s.io/cluster=true,node.kubernetes.io/microk8s-controlplane=microk8s-controlplane"\n--serialize-image-pulls=false\n`,
  );
  files.put(`${microk8sData}/certs/ca.crt`, certificate(cluster));
  files.put(
    `${microk8sData}/credentials/client.config`,
    'apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://127.0.0.1:16443\n  name: microk8s-cluster\n',
    { mode: 0o660 },
  );
  files.putDir(kubeletDir);
  files.putLink('/var/lib/kubelet', kubeletDir);
  machine.kubernetes = {
    nodeName: machine.name,
    role: 'control_plane',
    kubeletVersion: version,
    kubeletDir,
    runtimeClasses: [{ name: 'nvidia', handler: 'nvidia' }],
    labels: {
      'microk8s.io/cluster': 'true',
      'node.kubernetes.io/microk8s-controlplane': 'microk8s-controlplane',
      'nvidia.com/gpu.present': 'true',
    },
    taints: [],
    devicePlugin: null,
    ...emptyNode(),
  };
}

const cri = 'plugins."io.containerd.grpc.v1.cri"';

/** The template as the snap brings it, which names its own handler after the program; `nvidia`: with a handler of that name. */
export function writeMicrok8sTemplate(machine: Machine, nvidia: boolean): void {
  const added = nvidia
    ? `
    [${cri}.containerd.runtimes.nvidia]
      runtime_type = "\${RUNTIME_TYPE}"

      [${cri}.containerd.runtimes.nvidia.options]
        BinaryName = "/usr/bin/nvidia-container-runtime"
`
    : '';
  machine.files.put(
    microk8sTemplate,
    `# Use config version 2 to enable new configuration fields.
version = 2
oom_score = 0

[grpc]
  uid = 0
  gid = 0

[metrics]
  address = "127.0.0.1:1338"
  grpc_histogram = false

[${cri}]
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  enable_selinux = false
  sandbox_image = "registry.k8s.io/pause:3.10"
  stats_collect_period = 10
  enable_tls_streaming = false
  max_container_log_line_size = 16384

  [${cri}.containerd]
    snapshotter = "\${SNAPSHOTTER}"
    no_pivot = false
    default_runtime_name = "\${RUNTIME}"

    [${cri}.containerd.runtimes.runc]
      runtime_type = "\${RUNTIME_TYPE}"

    [${cri}.containerd.runtimes.nvidia-container-runtime]
      runtime_type = "\${RUNTIME_TYPE}"

      [${cri}.containerd.runtimes.nvidia-container-runtime.options]
        BinaryName = "nvidia-container-runtime"
${added}
  [${cri}.cni]
    bin_dir = "\${SNAP_DATA}/opt/cni/bin"
    conf_dir = "\${SNAP_DATA}/args/cni-network"

  [${cri}.registry]
    config_path = "\${SNAP_DATA}/args/certs.d"
`,
    { mode: 0o660 },
  );
}

/** The arguments with which the snap's start script runs its containerd. */
export const microk8sContainerdArgv: string[] = [
  `${microk8sSnap}/bin/containerd`,
  ...['--config', `${microk8sData}/args/containerd.toml`],
  ...['--root', `${microk8sCommon}/var/lib/containerd`],
  ...['--state', `${microk8sCommon}/run/containerd`],
  ...['--address', microk8sEndpoint],
];
