import { crioSocket } from '../daemons/crio.ts';
import { microk8sEndpoint } from '../daemons/microk8s.ts';
import type { Machine } from '../machine.ts';
import { keepPluginLog } from '../programs/device-plugin-log.ts';

/** NVIDIA's device plugin, as its chart puts it on a node with a GPU, and what the kubelet keeps of it on disk. */
export function installDevicePlugin(machine: Machine): void {
  const { files, kubernetes } = machine;
  if (kubernetes === null) return;
  const { kubeletDir } = kubernetes;
  files.putSpecial(`${kubeletDir}/device-plugins/kubelet.sock`, 'socket', undefined, { mode: 0o755 });
  files.put('/proc/net/unix', () => listeningSockets(machine));
  if (machine.gpus.length === 0) return;
  kubernetes.devicePlugin = {
    namespace: 'nvidia-device-plugin',
    name: 'nvdp-nvidia-device-plugin',
    version: 'v0.17.1',
    chart: '0.17.1',
    runtimeClassName: 'nvidia',
    migStrategy: machine.gpus.some(({ mig }) => mig.current === 'enabled') ? 'mixed' : 'none',
    hostPath: '/var/lib/kubelet/device-plugins',
    unhealthy: [],
    env: {},
    nodeSelector: {},
    configMap: null,
    runs: 1,
    startedAtMs: null,
  };
  keepPluginLog(machine);
}

/** Sockets that daemons of this machine listen on, as the kernel lists them. */
function listeningSockets(machine: Machine): string {
  const { kubeletDir } = machine.kubernetes ?? { kubeletDir: '' };
  const isActive = (name: string) => machine.units.get(name)?.active === 'active';
  const kubelet =
    machine.live.k3s !== null || isActive('kubelet.service') || isActive('snap.microk8s.daemon-kubelite.service');
  const paths = [
    '/run/systemd/private',
    '/run/dbus/system_bus_socket',
    ...(machine.live.containerd ? ['/run/containerd/containerd.sock'] : []),
    ...(machine.live.k3s ? ['/run/k3s/containerd/containerd.sock'] : []),
    ...(machine.live.crio ? [crioSocket] : []),
    ...(machine.live.microk8s ? [microk8sEndpoint] : []),
    ...(kubelet ? [`${kubeletDir}/pod-resources/kubelet.sock`, `${kubeletDir}/device-plugins/kubelet.sock`] : []),
  ];
  const rows = paths.map(
    (path, at) => `0000000000000000: 00000002 00000000 00010000 0001 01 ${String(20_000 + at).padStart(5)} ${path}\n`,
  );
  return `Num       RefCount Protocol Flags    Type St Inode Path\n${rows.join('')}`;
}
