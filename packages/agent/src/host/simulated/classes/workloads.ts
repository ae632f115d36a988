import type { Kubernetes, Machine, SimulatedPod } from '../machine.ts';

/** What the machine's GPUs are for: containers of docker, or pods that the kubelet gave a GPU to. */
export function installWorkloads(machine: Machine): void {
  if (machine.versions.docker !== '' && machine.containers > 0) installDockerContainers(machine);
  if (machine.kubernetes !== null && machine.gpus.length > 0) installPods(machine);
}

function installDockerContainers(machine: Machine): void {
  for (let at = 0; at < machine.containers; at += 1) {
    const id = machine.random.hex(`container/${at}`, 64);
    const usesGpu = at === 0 && machine.gpus.length > 0;
    const folder = `/var/lib/docker/containers/${id}`;
    machine.files.put(`${folder}/config.v2.json`, () => containerConfig(machine, id, at, usesGpu), { mode: 0o600 });
    machine.files.put(`${folder}/hostconfig.json`, JSON.stringify(hostConfig(usesGpu)));
  }
}

function containerConfig(machine: Machine, id: string, at: number, usesGpu: boolean): string {
  const name = usesGpu ? 'inference' : `service-${at}`;
  const image = usesGpu ? 'example.com/team/inference:1.4' : 'example.com/team/service:2.1';
  // Containers come back with their daemon.
  const startedAt = new Date(machine.units.get('docker.service')?.startedAtMs ?? machine.boot.atMs).toISOString();
  const env = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'API_TOKEN=not-for-others'];
  const cuda = usesGpu
    ? ['NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=compute,utility', 'NVIDIA_REQUIRE_CUDA=cuda>=12.0']
    : [];
  return JSON.stringify({
    StreamConfig: {},
    State: {
      Running: !machine.stoppedContainers.has(id),
      Paused: false,
      Restarting: false,
      OOMKilled: false,
      RemovalInProgress: false,
      Dead: false,
      Pid: 2000 + at,
      ExitCode: 0,
      Error: '',
      StartedAt: startedAt,
      FinishedAt: '0001-01-01T00:00:00Z',
      Health: null,
    },
    ID: id,
    Created: '2025-06-01T08:00:00.000000000Z',
    Managed: false,
    Path: '/entrypoint.sh',
    Args: [],
    Config: {
      Hostname: id.slice(0, 12),
      User: '',
      AttachStdin: false,
      Tty: false,
      Env: [...env, ...cuda],
      Cmd: null,
      Image: image,
      WorkingDir: '/app',
      Entrypoint: ['/entrypoint.sh'],
      Labels: {},
    },
    Image: `sha256:${machine.random.hex(`image/${usesGpu}`, 64)}`,
    Name: `/${name}`,
    Driver: 'overlay2',
    OS: 'linux',
    RestartCount: 0,
    HasBeenStartedBefore: true,
  });
}

function hostConfig(usesGpu: boolean) {
  return {
    Binds: null,
    LogConfig: { Type: 'json-file', Config: {} },
    NetworkMode: 'bridge',
    PortBindings: {},
    RestartPolicy: { Name: 'unless-stopped', MaximumRetryCount: 0 },
    Privileged: false,
    Runtime: usesGpu ? 'nvidia' : 'runc',
    Devices: [],
    DeviceCgroupRules: null,
    DeviceRequests: null,
    IpcMode: 'private',
    Isolation: '',
  };
}

function installPods(machine: Machine): void {
  machine.kubernetes?.pods.push({
    namespace: 'default',
    name: 'inference-0',
    controller: 'StatefulSet',
    usesGpu: true,
    hasEmptyDir: false,
    mayGo: true,
    isPending: false,
    runs: 1,
  });
  const folder = `${machine.kubernetes?.kubeletDir}/device-plugins`;
  machine.files.put(`${folder}/kubelet_internal_checkpoint`, () => checkpoint(machine), { mode: 0o600 });
}

/** The pod that has the first device of the first GPU; undefined while it is not here. */
export function gpuPod(machine: Machine) {
  const pod = machine.kubernetes?.pods.find(({ usesGpu, isPending }) => usesGpu && !isPending);
  const [gpu] = machine.gpus;
  if (!pod || !gpu) return undefined;
  return { ...pod, uid: uidOfPod(machine, pod), device: gpu.mig.instances[0]?.computes[0]?.uuid ?? gpu.uuid };
}

/** A pod that is made again has the name and is another one. */
export function uidOfPod(machine: Machine, { name, runs }: SimulatedPod): string {
  const seed = name === 'inference-0' ? 'pod/inference' : `pod/${name}`;
  return machine.random.uuid(runs === 1 ? seed : `${seed}/${runs}`);
}

/** A node as it joined its cluster. */
export function emptyNode(): Pick<Kubernetes, 'configMaps' | 'unschedulable' | 'annotations' | 'pods'> {
  return { configMaps: {}, unschedulable: false, annotations: {}, pods: [] };
}

function checkpoint(machine: Machine): string {
  const pod = gpuPod(machine);
  return JSON.stringify({
    Data: {
      PodDeviceEntries: pod
        ? [
            {
              PodUID: pod.uid,
              ContainerName: 'main',
              ResourceName: 'nvidia.com/gpu',
              DeviceIDs: { '-1': [pod.device] },
              AllocResp: '',
            },
          ]
        : [],
      RegisteredDevices: { 'nvidia.com/gpu': machine.gpus.map(({ uuid }) => uuid) },
    },
    Checksum: machine.random.int('checkpoint', 2_000_000_000),
  });
}
