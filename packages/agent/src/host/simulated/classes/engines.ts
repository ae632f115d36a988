import { containerdConfigPath, majorOf } from '../daemons/containerd.ts';
import { dockerConfigPath } from '../daemons/docker.ts';
import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';
import { emptyNode } from './workloads.ts';

/** Docker's daemon.json as an administrator left it. `nvidia`: with NVIDIA's runtime in it. */
export function dockerConfig(machine: Machine, nvidia: boolean): string {
  const own: Record<string, unknown> = {
    'log-driver': 'json-file',
    'log-opts': { 'max-size': '10m', 'max-file': '3' },
    ...(machine.os.arch === 'aarch64' ? { 'default-address-pools': [{ base: '172.30.0.0/16', size: 24 }] } : {}),
  };
  const runtimes = { nvidia: { args: [], path: 'nvidia-container-runtime' } };
  return `${JSON.stringify(nvidia ? { ...own, runtimes } : own, null, 4)}\n`;
}

export function installDocker(
  machine: Machine,
  versions: { docker: string; containerd: string },
  nvidia: boolean,
): void {
  Object.assign(machine.versions, versions);
  for (const program of ['docker', 'dockerd', 'containerd', 'ctr', 'runc', 'containerd-shim-runc-v2']) {
    installProgram(machine, `/usr/bin/${program}`);
  }
  machine.files.put(
    containerdConfigPath,
    '#   Copyright 2018-2022 Docker Inc.\n\ndisabled_plugins = ["cri"]\n\n#root = "/var/lib/containerd"\n#state = "/run/containerd"\n#subreaper = true\n#oom_score = 0\n',
  );
  machine.files.put(dockerConfigPath, dockerConfig(machine, nvidia));
  installContainerdUnit(machine);
  installUnit(machine, {
    name: 'docker.service',
    description: 'Docker Application Container Engine',
    exec: '/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock',
    restartSec: 2,
    burst: 3,
  });
}

function installContainerdUnit(machine: Machine): void {
  installUnit(machine, {
    name: 'containerd.service',
    description: 'containerd container runtime',
    exec: '/usr/bin/containerd',
    restartSec: 5,
  });
}

const containerdDropIn = '/etc/containerd/conf.d/99-nvidia.toml';

/** 1.7: one file, made from the default and edited. 2.x: a short file that imports a folder of drop-ins. */
function containerdFiles(machine: Machine, nvidia: boolean): { root: string; dropIn: string | null } {
  if (majorOf(machine.versions.containerd) < 2) {
    return {
      root: `# Made by: containerd config default
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"

[plugins]

  [plugins."io.containerd.grpc.v1.cri"]
    # The image that the cluster's kubeadm names.
    sandbox_image = "registry.k8s.io/pause:3.9"

    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/opt/cni/bin"
      conf_dir = "/etc/cni/net.d"

    [plugins."io.containerd.grpc.v1.cri".containerd]
      default_runtime_name = "runc"
      snapshotter = "overlayfs"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]

        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          runtime_type = "io.containerd.runc.v2"

          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            SystemdCgroup = true
${nvidia ? nvidiaTable('plugins."io.containerd.grpc.v1.cri"', '        ') : ''}`,
      dropIn: null,
    };
  }
  const cri = "plugins.'io.containerd.cri.v1.runtime'";
  return {
    root: `version = 3
imports = ["/etc/containerd/conf.d/*.toml"]

[plugins.'io.containerd.cri.v1.images'.pinned_images]
  sandbox = "registry.k8s.io/pause:3.10"

[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

  [${cri}.containerd.runtimes.runc.options]
    SystemdCgroup = true
`,
    dropIn: nvidia ? `version = 3\n${nvidiaTable(cri, '')}` : null,
  };
}

function nvidiaTable(cri: string, indent: string): string {
  const table = `${cri}.containerd.runtimes.nvidia`;
  return `
${indent}[${table}]
${indent}  runtime_type = "io.containerd.runc.v2"

${indent}  [${table}.options]
${indent}    BinaryName = "/usr/bin/nvidia-container-runtime"
${indent}    SystemdCgroup = true
`;
}

export function writeContainerdFiles(machine: Machine, nvidia: boolean): void {
  const { root, dropIn } = containerdFiles(machine, nvidia);
  machine.files.put(containerdConfigPath, root);
  if (majorOf(machine.versions.containerd) >= 2) machine.files.putDir('/etc/containerd/conf.d');
  if (dropIn === null) machine.files.remove(containerdDropIn);
  else machine.files.put(containerdDropIn, dropIn);
}

/** A kubeadm worker: the kubelet uses the host's own containerd and may read its node and the runtime classes. */
export function installKubeadmWorker(
  machine: Machine,
  versions: { containerd: string; kubelet: string },
  cluster: string,
): void {
  machine.versions.containerd = versions.containerd;
  for (const program of ['containerd', 'ctr', 'runc', 'containerd-shim-runc-v2'])
    installProgram(machine, `/usr/bin/${program}`);
  installContainerdUnit(machine);
  const endpoint = 'unix:///run/containerd/containerd.sock';
  installKubelet(machine, { version: versions.kubelet, endpoint }, cluster);
}

/** What kubeadm puts on a worker, whatever engine is behind the endpoint. */
export function installKubelet(
  machine: Machine,
  { version, endpoint }: { version: string; endpoint: string },
  cluster: string,
): void {
  const { files } = machine;
  for (const program of ['crictl', 'kubelet', 'kubectl', 'kubeadm']) installProgram(machine, `/usr/bin/${program}`);
  installUnit(machine, {
    name: 'kubelet.service',
    description: 'kubelet: The Kubernetes Node Agent',
    exec: '/usr/bin/kubelet --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml',
    type: 'simple',
    restartSec: 10,
  });
  files.put('/etc/kubernetes/pki/ca.crt', certificate(cluster));
  files.put(
    '/etc/kubernetes/kubelet.conf',
    'apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://10.0.0.10:6443\n  name: default-cluster\nusers:\n- name: default-auth\n  user:\n    client-certificate: /var/lib/kubelet/pki/kubelet-client-current.pem\n    client-key: /var/lib/kubelet/pki/kubelet-client-current.pem\n',
    { mode: 0o600 },
  );
  files.put(
    '/var/lib/kubelet/config.yaml',
    `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncgroupDriver: systemd\nclusterDomain: cluster.local\ncontainerRuntimeEndpoint: ${endpoint}\n`,
  );
  files.put('/var/lib/kubelet/kubeadm-flags.env', `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=${endpoint}"\n`);
  machine.kubernetes = {
    nodeName: machine.name,
    role: 'worker',
    kubeletVersion: version,
    kubeletDir: '/var/lib/kubelet',
    runtimeClasses: [{ name: 'nvidia', handler: 'nvidia' }],
    labels: { 'nvidia.com/gpu.present': 'true' },
    taints: [],
    devicePlugin: null,
    ...emptyNode(),
  };
}

/** Bytes of a certificate that all machines of one cluster share; nobody verifies it. */
export function certificate(cluster: string): string {
  const body = Buffer.from(`simulated certificate authority of the cluster ${cluster}`.padEnd(192, '.')).toString(
    'base64',
  );
  return `-----BEGIN CERTIFICATE-----\n${body.match(/.{1,64}/g)?.join('\n')}\n-----END CERTIFICATE-----\n`;
}
