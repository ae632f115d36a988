import { manageLayouts } from '../daemons/mig-at-boot.ts';
import type { Machine } from '../machine.ts';
import { distributions, installBase, installUnit } from './base.ts';
import { installCrioWorker, writeCrioFiles } from './crio.ts';
import { installDocker, installKubeadmWorker, writeContainerdFiles } from './engines.ts';
import { installFabric } from './fabric.ts';
import { boards, installBoard, installPlainLibrary, installVersionedLibrary } from './jetson.ts';
import { installMicrok8s, writeMicrok8sTemplate } from './microk8s.ts';
import { installDriver, installPciDevice, installToolkit } from './nvidia.ts';
import { installK3s, installRke2 } from './rancher.ts';

/** What a class puts on a machine, in the order in which its units start at boot. */
interface HostClass {
  title: string;
  arch: Machine['os']['arch'];
  /** The unit whose restart makes a runtime's configuration count. */
  runtimeUnit: string;
  install(machine: Machine, cluster: string): void;
}

const server = { memoryGiB: 64, cpus: 16, cpuModel: 'AMD EPYC 7313P 16-Core Processor' };
const large = { memoryGiB: 512, cpus: 32, cpuModel: 'AMD EPYC 9354 32-Core Processor' };
const jetson = { memoryGiB: 64, cpus: 12, cpuModel: 'ARMv8' };
const drivers = {
  r535: { version: '535.230.02', cuda: '12.2', flavour: 'proprietary' },
  r550: { version: '550.163.01', cuda: '12.4', flavour: 'proprietary' },
  r570: { version: '570.148.08', cuda: '12.8', flavour: 'open' },
  r580: { version: '580.95.05', cuda: '13.0', flavour: 'open' },
  orin: { version: '540.4.0', cuda: '12.6', flavour: 'open' },
  thor: { version: '580.00', cuda: '13.0', flavour: 'open' },
} as const;

export const simulatedClasses = {
  'x86-docker': {
    title: 'x86 server with Docker and one L4 or T4',
    arch: 'x86_64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installServer(machine, server);
      const model = machine.random.pick('x86-docker/gpu', ['l4', 't4']);
      installDriver(machine, machine.random.pick('x86-docker/driver', [drivers.r550, drivers.r570]), [{ model }]);
      installToolkit(machine, '1.17.8');
      installDocker(machine, { docker: '27.5.1', containerd: '1.7.27' }, true);
      machine.containers = 3;
    },
  },
  'x86-containerd-1.7': {
    title: 'x86 Kubernetes worker with containerd 1.7 and one L4',
    arch: 'x86_64',
    runtimeUnit: 'containerd.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r535, [{ model: 'l4' }]);
      installToolkit(machine, '1.17.8');
      installKubeadmWorker(machine, { containerd: '1.7.24', kubelet: 'v1.31.6' }, cluster);
      writeContainerdFiles(machine, true);
    },
  },
  'x86-containerd-2': {
    title: 'x86 Kubernetes worker with containerd 2 and two L4',
    arch: 'x86_64',
    runtimeUnit: 'containerd.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r570, [{ model: 'l4' }, { model: 'l4' }]);
      installToolkit(machine, '1.18.1');
      installKubeadmWorker(machine, { containerd: '2.1.4', kubelet: 'v1.33.4' }, cluster);
      writeContainerdFiles(machine, true);
    },
  },
  'k3s-server': {
    title: 'k3s server with one T4',
    arch: 'x86_64',
    runtimeUnit: 'k3s.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r550, [{ model: 't4' }]);
      installToolkit(machine, '1.17.8');
      installK3s(machine, 'v1.33.5+k3s1', 'server', cluster);
    },
  },
  'k3s-agent': {
    title: 'k3s agent with one L4',
    arch: 'x86_64',
    runtimeUnit: 'k3s-agent.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r570, [{ model: 'l4' }]);
      installToolkit(machine, '1.17.8');
      installK3s(machine, 'v1.33.5+k3s1', 'agent', cluster);
    },
  },
  'rke2-server': {
    title: 'RKE2 server with two L4',
    arch: 'x86_64',
    runtimeUnit: 'rke2-server.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r570, [{ model: 'l4' }, { model: 'l4' }]);
      installToolkit(machine, '1.17.8');
      installRke2(machine, 'v1.33.5+rke2r1', 'server', cluster);
    },
  },
  'crio-worker': {
    title: 'x86 Kubernetes worker with CRI-O and one L4',
    arch: 'x86_64',
    runtimeUnit: 'crio.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r570, [{ model: 'l4' }]);
      installToolkit(machine, '1.17.8');
      installCrioWorker(machine, { crio: '1.33.2', kubelet: 'v1.33.4' }, cluster);
      writeCrioFiles(machine, true);
    },
  },
  'microk8s-server': {
    title: 'MicroK8s node with one T4',
    arch: 'x86_64',
    runtimeUnit: 'snap.microk8s.daemon-containerd.service',
    install(machine, cluster) {
      installServer(machine, server);
      installDriver(machine, drivers.r550, [{ model: 't4' }]);
      installToolkit(machine, '1.17.8');
      installMicrok8s(machine, 'v1.32.9', cluster);
      writeMicrok8sTemplate(machine, true);
    },
  },
  'a100-mig': {
    title: 'Docker server with two A100 40 GB cut into MIG instances',
    arch: 'x86_64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installServer(machine, large);
      const mig = ['3g.20gb', '2g.10gb', '1g.5gb', '1g.5gb'] as const;
      installDriver(machine, drivers.r550, [
        { model: 'a100', mig },
        { model: 'a100', mig: ['7g.40gb'] },
      ]);
      installMigManager(machine);
      installToolkit(machine, '1.17.8');
      installDocker(machine, { docker: '28.3.3', containerd: '1.7.27' }, true);
      machine.containers = 5;
    },
  },
  'h100-mig': {
    title: 'Kubernetes worker with containerd 2 and four H100 80 GB, two of them cut into MIG instances',
    arch: 'x86_64',
    runtimeUnit: 'containerd.service',
    install(machine, cluster) {
      installServer(machine, large);
      const sevenths = Array.from({ length: 7 }, () => '1g.10gb' as const);
      installDriver(machine, drivers.r580, [
        { model: 'h100', mig: sevenths },
        { model: 'h100', mig: ['3g.40gb', '2g.20gb', '2g.20gb'] },
        { model: 'h100' },
        { model: 'h100' },
      ]);
      installMigManager(machine);
      installToolkit(machine, '1.18.1');
      installKubeadmWorker(machine, { containerd: '2.1.4', kubelet: 'v1.33.4' }, cluster);
      writeContainerdFiles(machine, true);
    },
  },
  'hgx-h100': {
    title: 'Docker server with eight H100 80 GB joined by four NVSwitches',
    arch: 'x86_64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installServer(machine, { ...large, memoryGiB: 2048, cpus: 64 });
      installDriver(
        machine,
        drivers.r570,
        Array.from({ length: 8 }, () => ({ model: 'h100' as const })),
      );
      installFabric(machine);
      installToolkit(machine, '1.17.8');
      installDocker(machine, { docker: '28.3.3', containerd: '1.7.27' }, true);
      machine.containers = 8;
    },
  },
  orin: {
    title: 'Jetson AGX Orin with JetPack 6.2 and Docker',
    arch: 'aarch64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installBase(machine, { ...distributions.jammy, kernel: '5.15.148-tegra' }, jetson);
      installBoard(machine, boards.orin);
      // NVIDIA's own root port: its vendor's devices on the bus are not all GPUs.
      installPciDevice(machine, {
        address: '0004:00:00.0',
        vendor: '0x10de',
        device: '0x229c',
        classCode: '0x060400',
        driver: 'pcieport',
      });
      installDriver(machine, drivers.orin, [{ model: 'orin' }]);
      installPlainLibrary(machine);
      installToolkit(machine, '1.16.2');
      installDocker(machine, { docker: '27.5.1', containerd: '1.7.24' }, true);
      machine.containers = 2;
    },
  },
  thor: {
    title: 'Jetson AGX Thor with JetPack 7 and Docker',
    arch: 'aarch64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installBase(machine, { ...distributions.noble, kernel: '6.8.12-tegra' }, { ...jetson, memoryGiB: 128, cpus: 14 });
      installBoard(machine, boards.thor);
      installDriver(machine, drivers.thor, [{ model: 'thor' }]);
      installVersionedLibrary(machine);
      installToolkit(machine, '1.18.0');
      installDocker(machine, { docker: '28.3.3', containerd: '1.7.27' }, true);
      machine.containers = 2;
    },
  },
  'no-gpu': {
    title: 'x86 server with Docker and no NVIDIA GPU',
    arch: 'x86_64',
    runtimeUnit: 'docker.service',
    install(machine) {
      installServer(machine, server);
      installDocker(machine, { docker: '27.5.1', containerd: '1.7.27' }, false);
      machine.containers = 4;
    },
  },
} as const satisfies Record<string, HostClass>;

export type SimulatedClass = keyof typeof simulatedClasses;
export const simulatedClassNames = Object.keys(simulatedClasses) as SimulatedClass[];

/** The class's plain shape: entries of the table above have literal types of their own. */
export function hostClass(name: SimulatedClass): HostClass {
  return simulatedClasses[name];
}

/** Instances do not outlive a boot by themselves: this unit makes them again from its record. */
function installMigManager(machine: Machine): void {
  manageLayouts(machine);
  installUnit(machine, {
    name: 'nvidia-mig-manager.service',
    description: 'Configure MIG on NVIDIA GPUs',
    exec: '/usr/bin/nvidia-mig-manager-service.sh',
    type: 'oneshot',
  });
}

function installServer(machine: Machine, hardware: Parameters<typeof installBase>[2]): void {
  const distribution = machine.random.pick('distribution', [
    distributions.bookworm,
    distributions.jammy,
    distributions.noble,
  ]);
  installBase(machine, distribution, hardware);
  const others = [
    { address: '0000:00:00.0', vendor: '0x1022', device: '0x14a4', classCode: '0x060000', driver: null },
    { address: '0000:01:00.0', vendor: '0x8086', device: '0x1563', classCode: '0x020000', driver: 'ixgbe' },
    { address: '0000:02:00.0', vendor: '0x1a03', device: '0x2000', classCode: '0x030000', driver: 'ast' },
  ];
  for (const device of others) installPciDevice(machine, device);
}
