import { createGpu, type Driver } from '../gpus/gpu.ts';
import type { GpuModelName, MigProfileName } from '../gpus/models.ts';
import { showDriver } from '../kernel-modules.ts';
import type { Machine } from '../machine.ts';
import { installProgram, installUnit } from './base.ts';

/** GPUs on the bus and the driver that serves them. */
export function installDriver(
  machine: Machine,
  driver: { version: string; cuda: string; flavour: Driver['flavour'] },
  gpus: { model: GpuModelName; mig?: readonly MigProfileName[] }[],
): void {
  machine.driver = {
    loaded: driver.version,
    onDisk: driver.version,
    library: driver.version,
    cuda: driver.cuda,
    flavour: driver.flavour,
  };
  machine.gpus = gpus.map(({ model, mig }, minor) => createGpu(machine.random, model, minor, mig ?? null));
  installProgram(machine, '/usr/bin/nvidia-smi');
  installProgram(machine, '/usr/bin/nvidia-persistenced');
  installLibrary(machine, libraryFolder(machine), driver.version);
  const { files } = machine;
  const orin = gpus.some(({ model }) => model === 'orin');
  for (const name of ['nvidia', 'nvidia_modeset', 'nvidia_drm', ...(orin ? [] : ['nvidia_uvm'])]) {
    machine.modules.add(name);
    machine.modulesOfBoot.add(name);
  }
  for (const gpu of machine.gpus.filter(({ busId }) => busId !== 'N/A')) {
    installPciDevice(machine, {
      address: gpu.busId.slice(4).toLowerCase(),
      vendor: '0x10de',
      device: `0x${gpu.model.deviceId.slice(0, 4).toLowerCase()}`,
      classCode: gpu.model.pciClass,
      driver: 'nvidia',
    });
    files.putSpecial(`/dev/nvidia${gpu.minor}`, 'char', { major: 195, minor: gpu.minor });
  }
  showDriver(machine);
  for (const program of ['nvidia-modprobe', 'modprobe', 'rmmod', 'rm']) installProgram(machine, `/usr/bin/${program}`);
  files.putSpecial('/dev/nvidiactl', 'char', { major: 195, minor: 255 });
  files.putSpecial('/dev/nvidia-uvm', 'char', { major: 510, minor: 0 });
  files.putSpecial('/dev/nvidia-uvm-tools', 'char', { major: 510, minor: 1 });
  installUnit(machine, {
    name: 'nvidia-persistenced.service',
    description: 'NVIDIA Persistence Daemon',
    exec: '/usr/bin/nvidia-persistenced --user nvidia-persistenced --no-persistence-mode --verbose',
    type: 'forking',
    enabled: 'static',
  });
}

export function libraryFolder(machine: Machine): string {
  return machine.os.arch === 'aarch64' ? '/usr/lib/aarch64-linux-gnu' : '/usr/lib/x86_64-linux-gnu';
}

/** Exactly one version of the library at a time: a package upgrade replaces the file and the link. */
export function installLibrary(machine: Machine, folder: string, version: string): void {
  const { files } = machine;
  const listed = files.list(folder);
  if (listed.ok)
    for (const { name } of listed.value) if (name.startsWith('libnvidia-ml.so')) files.remove(`${folder}/${name}`);
  files.put(`${folder}/libnvidia-ml.so.${version}`, '\u007fELF');
  files.putLink(`${folder}/libnvidia-ml.so.1`, `libnvidia-ml.so.${version}`);
  files.putLink(`${folder}/libnvidia-ml.so`, 'libnvidia-ml.so.1');
}

/** sysfs shows a device below its bridge; the list of devices holds links. */
export function installPciDevice(
  machine: Machine,
  device: { address: string; vendor: string; device: string; classCode: string; driver: string | null },
): void {
  const { files } = machine;
  const folder = `/sys/devices/pci0000:00/${device.address}`;
  files.put(`${folder}/vendor`, () => `${device.vendor}\n`);
  files.put(`${folder}/device`, () => `${device.device}\n`);
  files.put(`${folder}/class`, () => `${device.classCode}\n`);
  files.putLink(`/sys/bus/pci/devices/${device.address}`, `../../../devices/pci0000:00/${device.address}`);
  if (device.driver === null) return;
  files.putDir(`/sys/bus/pci/drivers/${device.driver}`);
  files.putLink(`${folder}/driver`, `../../../bus/pci/drivers/${device.driver}`);
}

const toolkitPrograms = [
  'nvidia-container-runtime',
  'nvidia-container-runtime-hook',
  'nvidia-container-cli',
  'nvidia-ctk',
  'nvidia-cdi-hook',
] as const;

export function installToolkit(machine: Machine, version: string): void {
  machine.versions.toolkit = version;
  for (const program of toolkitPrograms) installProgram(machine, `/usr/bin/${program}`);
  machine.files.put('/etc/nvidia-container-runtime/config.toml', toolkitConfig());
  const own = toolkitPrograms.map((program) => `/usr/bin/${program}\n`).join('');
  for (const name of toolkitPackages) machine.files.put(packageList(name), own);
}

const toolkitPackages = ['nvidia-container-toolkit', 'nvidia-container-toolkit-base', 'libnvidia-container-tools'];
const packageList = (name: string): string => `/var/lib/dpkg/info/${name}.list`;

export function removeToolkit(machine: Machine): void {
  for (const program of toolkitPrograms) machine.files.remove(`/usr/bin/${program}`);
  machine.files.remove('/etc/nvidia-container-runtime/config.toml');
  for (const name of toolkitPackages) machine.files.remove(packageList(name));
}

function toolkitConfig(): string {
  return `#accept-nvidia-visible-devices-as-volume-mounts = false
#accept-nvidia-visible-devices-envvar-when-unprivileged = true
disable-require = false
supported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"
#swarm-resource = "DOCKER_RESOURCE_GPU"

[nvidia-container-cli]
#debug = "/var/log/nvidia-container-toolkit.log"
environment = []
#ldcache = "/etc/ld.so.cache"
ldconfig = "@/sbin/ldconfig.real"
load-kmods = true
#no-cgroups = false
#path = "/usr/bin/nvidia-container-cli"
#root = "/run/nvidia/driver"
#user = "root:video"

[nvidia-container-runtime]
#debug = "/var/log/nvidia-container-runtime.log"
log-level = "info"
mode = "auto"
runtimes = ["runc", "crun"]

[nvidia-container-runtime.modes]

[nvidia-container-runtime.modes.cdi]
annotation-prefixes = ["cdi.k8s.io/"]
default-kind = "nvidia.com/gpu"
spec-dirs = ["/etc/cdi", "/var/run/cdi"]

[nvidia-container-runtime.modes.csv]
mount-spec-path = "/etc/nvidia-container-runtime/host-files-for-container.d"

[nvidia-container-runtime-hook]
path = "nvidia-container-runtime-hook"
skip-mode-detection = false

[nvidia-ctk]
path = "nvidia-ctk"
`;
}
