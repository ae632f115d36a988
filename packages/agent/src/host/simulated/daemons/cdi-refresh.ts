import { libraryFolder } from '../classes/nvidia.ts';
import { migDevices, type SimulatedGpu } from '../gpus/gpu.ts';
import type { Machine } from '../machine.ts';
import type { Started } from '../unit.ts';

const generatedSpecPath = '/var/run/cdi/nvidia.yaml';
const settingsPath = '/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env';

/** nvidia-cdi-refresh.service: asks nvidia-smi first and writes what nvidia-ctk generates. */
export function startCdiRefresh(machine: Machine): Started {
  const { driver } = machine;
  if (!machine.files.has('/usr/bin/nvidia-ctk')) return { ok: false, log: 'nvidia-ctk: No such file or directory' };
  if (driver === null || driver.loaded !== driver.library)
    return { ok: false, log: 'Failed to initialize NVML: Driver Not Loaded' };
  const settings = machine.files.text(settingsPath) ?? '';
  const flags = /^NVIDIA_CTK_CDI_GENERATE_FEATURE_FLAGS=(.*)$/m.exec(settings)?.[1]?.split(',') ?? [];
  const generated = generateSpec(machine, { featureFlags: flags });
  if (!generated.ok) return { ok: false, log: generated.error };
  machine.files.put(generatedSpecPath, generated.text, { mode: 0o644 });
  return { ok: true, ended: true };
}

type Generated = { ok: true; text: string } | { ok: false; error: string };

/** What `nvidia-ctk cdi generate` makes of this machine, or the error that it ends with. */
export function generateSpec(
  machine: Machine,
  { names = ['index', 'uuid'], featureFlags = [] }: { names?: readonly string[]; featureFlags?: readonly string[] },
): Generated {
  const failed = (why: string): Generated => ({
    ok: false,
    error: `failed to generate CDI spec: failed to create device CDI specs: failed to construct device spec generators: ${why}`,
  });
  const { driver, gpus } = machine;
  if (isOrin(machine)) return { ok: true, text: cdiSpec(machine, names) };
  if (driver === null) return failed('failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND');
  if (driver.loaded === null) return failed('failed to initialize NVML: ERROR_DRIVER_NOT_LOADED');
  if (driver.loaded !== driver.library) return failed('failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH');
  if (gpus.some(({ lost }) => lost)) return failed('failed to get device handle from index: ERROR_GPU_IS_LOST');
  if (driver.loaded.startsWith('565.') && hasSandboxUtils(machine) && !featureFlags.includes('disable-nvsandboxutils'))
    return failed('failed to get device edits: failed to initialize nvsandboxutils: ERROR_UNKNOWN');
  return { ok: true, text: cdiSpec(machine, names) };
}

function isOrin({ gpus }: Machine): boolean {
  return gpus.some(({ model }) => model.kind === 'orin');
}

function hasSandboxUtils({ versions }: Machine): boolean {
  const [major = 0, minor = 0] = versions.toolkit.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 18);
}

/** `nvidia-ctk cdi generate`: keys in the order of the alphabet, devices by index and by UUID, then all of them. */
function cdiSpec(machine: Machine, names: readonly string[]): string {
  const csv = isOrin(machine) ? listed(machine) : null;
  const everyGpu = machine.gpus.map((gpu) => `/dev/nvidia${gpu.minor}`);
  const devices = csv
    ? ['0', 'all'].map((name) => ({ name, nodes: csv.devices }))
    : [...machine.gpus.flatMap((gpu, index) => devicesOf(gpu, index, names)), { name: 'all', nodes: everyGpu }];
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
${(csv?.libraries ?? mountedPaths(machine)).map(mount).join('')}devices:
${devices.map(deviceEntry).join('')}kind: nvidia.com/gpu
`;
}

/** A GPU that is cut into instances has no device of its own beside them. */
function devicesOf(gpu: SimulatedGpu, index: number, names: readonly string[]): { name: string; nodes: string[] }[] {
  const nodes = [`/dev/nvidia${gpu.minor}`];
  const named = (place: string, uuid: string, type: string) =>
    [...names].sort().map((strategy) => {
      if (strategy === 'uuid') return { name: uuid, nodes };
      return { name: strategy === 'index' ? place : `${type}${place}`, nodes };
    });
  if (gpu.mig.current === 'disabled') return named(`${index}`, gpu.uuid, 'gpu');
  return migDevices(gpu).flatMap(({ compute }, at) => named(`${index}:${at}`, compute.uuid, 'mig'));
}

/** What the csv lists of a board name and that is there; the rest is only warned of. */
function listed({ files }: Machine): { devices: string[]; libraries: string[] } {
  const folder = '/etc/nvidia-container-runtime/host-files-for-container.d';
  const found = files.list(folder);
  const lines = (found.ok ? found.value : []).flatMap(({ name }) =>
    [...(files.text(`${folder}/${name}`) ?? '').matchAll(/^(\w+), (\S+)$/gm)].map(([, type = '', path = '']) => ({
      type,
      path,
    })),
  );
  const of = (type: string) =>
    lines.filter((line) => line.type === type && files.has(line.path)).map(({ path }) => path);
  return { devices: of('dev'), libraries: of('lib') };
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
