import { libraryFolder } from '../classes/nvidia.ts';
import { migDevices, type SimulatedGpu } from '../gpus/gpu.ts';
import type { Machine } from '../machine.ts';
import type { Started } from '../unit.ts';

const generatedSpecPath = '/var/run/cdi/nvidia.yaml';

/** nvidia-cdi-refresh.service: asks nvidia-smi first and writes what nvidia-ctk generates. */
export function startCdiRefresh(machine: Machine): Started {
  const { driver } = machine;
  if (!machine.files.has('/usr/bin/nvidia-ctk')) return { ok: false, log: 'nvidia-ctk: No such file or directory' };
  if (driver === null || driver.loaded !== driver.library)
    return { ok: false, log: 'Failed to initialize NVML: Driver Not Loaded' };
  machine.files.put(generatedSpecPath, cdiSpec(machine), { mode: 0o644 });
  return { ok: true, ended: true };
}

/** `nvidia-ctk cdi generate`: keys in the order of the alphabet, devices by index and by UUID, then all of them. */
export function cdiSpec(machine: Machine): string {
  const everyGpu = machine.gpus.map((gpu) => `/dev/nvidia${gpu.minor}`);
  const devices = [...machine.gpus.flatMap(devicesOf), { name: 'all', nodes: everyGpu }];
  return `---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
${['nvidia-modeset', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidiactl']
  .map((name) => `/dev/${name}`)
  .filter((path) => machine.files.has(path))
  .map((path) => `  - path: ${path}\n`)
  .join('')}  env:
  - NVIDIA_CTK_LIBCUDA_DIR=${libraryFolder(machine)}
  - NVIDIA_VISIBLE_DEVICES=void
  hooks:
  - args:
    - nvidia-cdi-hook
    - create-symlinks
    - --link
    - libcuda.so.1::${libraryFolder(machine)}/libcuda.so
    env:
    - NVIDIA_CTK_DEBUG=false
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  - args:
    - nvidia-cdi-hook
    - update-ldcache
    - --folder
    - ${libraryFolder(machine)}
    env:
    - NVIDIA_CTK_DEBUG=false
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
${mountedPaths(machine).map(mount).join('')}devices:
${devices.map(deviceEntry).join('')}kind: nvidia.com/gpu
`;
}

/** A GPU that is cut into instances has no device of its own beside them. */
function devicesOf(gpu: SimulatedGpu, index: number): { name: string; nodes: string[] }[] {
  const nodes = [`/dev/nvidia${gpu.minor}`];
  if (gpu.mig.current === 'disabled') return [`${index}`, gpu.uuid].map((name) => ({ name, nodes }));
  return migDevices(gpu).flatMap(({ compute }, at) =>
    [`${index}:${at}`, compute.uuid].map((name) => ({ name, nodes })),
  );
}

function deviceEntry({ name, nodes }: { name: string; nodes: string[] }): string {
  const quoted = /^\d+(:\d+)?$/.test(name) ? `"${name}"` : name;
  return `- containerEdits:\n    deviceNodes:\n${nodes.map((path) => `    - path: ${path}\n`).join('')}  name: ${quoted}\n`;
}

function mountedPaths(machine: Machine): string[] {
  const folder = libraryFolder(machine);
  const listed = machine.files.list(folder);
  const version = machine.driver?.library ?? '';
  const libraries = (listed.ok ? listed.value : [])
    .filter(({ name }) => name.endsWith(`.so.${version}`))
    .map(({ name }) => `${folder}/${name}`);
  const programs = ['nvidia-persistenced', 'nvidia-smi'].map((name) => `/usr/bin/${name}`);
  return [...programs, ...libraries].filter((path) => machine.files.has(path));
}

function mount(path: string): string {
  return `  - containerPath: ${path}\n    hostPath: ${path}\n    options:\n    - ro\n    - nosuid\n    - nodev\n    - rbind\n    - rprivate\n`;
}
