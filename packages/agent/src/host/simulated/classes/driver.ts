import type { SimulatedGpu } from '../gpus/gpu.ts';
import type { Machine } from '../machine.ts';

/** What the kernel, the firmware and a driver's installer leave beside what the class itself names. */
export function installDriverSurroundings(machine: Machine): void {
  installKernelState(machine);
  installFirmware(machine);
  installModules(machine);
  if (machine.driver) installDriverState(machine);
}

const isTegra = ({ gpus }: Machine) => gpus.some(({ model }) => model.kind !== 'discrete');

function installKernelState(machine: Machine): void {
  const { files } = machine;
  const x86 = machine.os.arch === 'x86_64';
  files.put('/proc/cmdline', () =>
    x86
      ? `BOOT_IMAGE=/boot/vmlinuz-${machine.os.kernel} root=/dev/sda2 ro quiet\n`
      : 'root=/dev/mmcblk0p1 rw rootwait mminit_loglevel=4\n',
  );
  files.put('/proc/devices', () => devices(machine));
  files.put('/proc/self/uid_map', () => '         0          0 4294967295\n');
  files.put('/sys/fs/cgroup/cgroup.controllers', () => 'cpuset cpu io memory hugetlb pids rdma misc\n');
  files.put('/sys/devices/system/clocksource/clocksource0/available_clocksource', () =>
    x86 ? 'tsc hpet acpi_pm \n' : 'arch_sys_counter \n',
  );
  if (x86) files.put('/sys/kernel/security/lockdown', () => '[none] integrity confidentiality\n');
  files.put('/etc/group', 'root:x:0:\ntty:x:5:\nsudo:x:27:\nvideo:x:44:\nrender:x:104:\nsystemd-journal:x:999:\n');
  files.putSpecial('/dev/null', 'char', { major: 1, minor: 3 });
  files.putSpecial('/dev/tty', 'char', { major: 5, minor: 0 }, { gid: 5 });
}

function devices(machine: Machine): string {
  const uvm = machine.modules.has('nvidia_uvm') || isTegra(machine) ? [[510, 'nvidia-uvm']] : [];
  const gpu = machine.driver?.loaded
    ? [
        [195, 'nvidia'],
        [195, 'nvidia-modeset'],
        [195, 'nvidiactl'],
        ...(isTegra(machine) ? [] : [[508, 'nvidia-caps']]),
        ...uvm,
      ]
    : [];
  const rows = [[1, 'mem'], [5, '/dev/tty'], [10, 'misc'], ...gpu, [226, 'drm']]
    .map(([major, name]) => `${String(major).padStart(3)} ${name}\n`)
    .join('');
  return `Character devices:\n${rows}\nBlock devices:\n  7 loop\n259 blkext\n`;
}

const globalVariables = '8be4df61-93ca-11d2-aa0d-00e098032b8c';

/** Servers have DMI; both kinds start by UEFI with Secure Boot switched off, as GPU servers mostly do. */
function installFirmware({ files, os }: Machine): void {
  const variable = (value: number) => `\u0006\0\0\0${String.fromCharCode(value)}`;
  for (const name of ['SecureBoot', 'SetupMode'])
    files.put(`/sys/firmware/efi/efivars/${name}-${globalVariables}`, variable(0));
  const dmi =
    os.arch === 'x86_64'
      ? { sys_vendor: 'Example Systems', product_name: 'GPU Server 2U', bios_vendor: 'Example BIOS' }
      : { sys_vendor: 'NVIDIA', product_name: 'NVIDIA Jetson', bios_vendor: 'EDK II' };
  for (const [name, text] of Object.entries(dmi)) files.put(`/sys/class/dmi/id/${name}`, () => `${text}\n`);
}

const moduleFiles = ['nvidia', 'nvidia-drm', 'nvidia-modeset', 'nvidia-uvm'] as const;

/** Folder of the driver's modules for a kernel: DKMS on servers, NVIDIA's own on Jetson. */
export function modulesFolder(machine: Machine, kernel: string): string {
  return `/usr/lib/modules/${kernel}/updates/${isTegra(machine) ? 'opensrc-disp' : 'dkms'}`;
}

function installModules(machine: Machine): void {
  const { files, os, driver } = machine;
  const headers = `/usr/src/linux-headers-${os.kernel}`;
  files.putDir(`/usr/lib/modules/${os.kernel}/kernel/drivers/video/fbdev`);
  files.putDir(headers);
  files.putLink(`/usr/lib/modules/${os.kernel}/build`, headers);
  files.putDir('/usr/local/sbin');
  files.put('/etc/modprobe.d/blacklist-framebuffer.conf', '# Framebuffer drivers are buggy.\nblacklist nvidiafb\n');
  if (!driver) return;
  if (!isTegra(machine))
    files.put('/etc/modprobe.d/nvidia-graphics-drivers.conf', 'blacklist nouveau\noptions nvidia-drm modeset=1\n');
  builtModule(machine, driver.onDisk);
}

/** The driver's modules for the running kernel, on servers as DKMS leaves them. */
export function builtModule(machine: Machine, version: string): void {
  const { files, os } = machine;
  for (const name of moduleFiles) files.put(`${modulesFolder(machine, os.kernel)}/${name}.ko`, '\u007fELF');
  if (isTegra(machine)) return;
  const dkms = '/var/lib/dkms/nvidia';
  files.put(`${dkms}/${version}/${os.kernel}/${os.arch}/module/nvidia.ko`, '\u007fELF');
  files.putLink(`${dkms}/${version}/source`, `/usr/src/nvidia-${version}`);
  files.putLink(`${dkms}/kernel-${os.kernel}-${os.arch}`, `${version}/${os.kernel}/${os.arch}`);
}

/** Only the sources are left. */
export function unbuiltModule(machine: Machine, version: string): void {
  const { files, os } = machine;
  for (const name of moduleFiles) files.remove(`${modulesFolder(machine, os.kernel)}/${name}.ko`);
  files.remove(modulesFolder(machine, os.kernel));
  files.remove(`/var/lib/dkms/nvidia/${version}/${os.kernel}`);
  files.remove(`/var/lib/dkms/nvidia/kernel-${os.kernel}-${os.arch}`);
}

function installDriverState(machine: Machine): void {
  const { files, gpus } = machine;
  const onBus = gpus.filter(({ busId }) => busId !== 'N/A');
  for (const gpu of onBus) {
    const address = gpu.busId.slice(4).toLowerCase();
    files.put(`/sys/devices/pci0000:00/${address}/config`, () => configSpace(gpu));
    files.put(`/sys/devices/pci0000:00/${address}/driver_override`, () => '(null)\n');
    files.putSpecial(
      `/dev/dri/renderD${128 + gpu.minor}`,
      'char',
      { major: 226, minor: 128 + gpu.minor },
      { mode: 0o660, gid: 104 },
    );
    files.putLink(`/dev/char/195:${gpu.minor}`, `../nvidia${gpu.minor}`);
  }
  for (const [number, name] of [
    ['195:255', 'nvidiactl'],
    ['510:0', 'nvidia-uvm'],
    ['510:1', 'nvidia-uvm-tools'],
  ])
    files.putLink(`/dev/char/${number}`, `../${name}`);
  if (isTegra(machine)) return;
  for (const minor of [1, 2]) {
    const mode = minor === 1 ? 0o400 : 0o444;
    files.putSpecial(`/dev/nvidia-caps/nvidia-cap${minor}`, 'char', { major: 508, minor }, { mode });
  }
}

export function information(machine: Machine, gpu: SimulatedGpu, address: string): string {
  const row = (name: string, value: string) => `${`${name}:`.padEnd(15)}\t ${value}\n`;
  return (
    row('Model', gpu.model.name) +
    row('IRQ', String(120 + gpu.minor)) +
    row('GPU UUID', gpu.uuid) +
    row('Video BIOS', '??.??.??.??.??') +
    row('Bus Type', 'PCIe') +
    row('DMA Size', '47 bits') +
    row('DMA Mask', '0x7fffffffffff') +
    row('Bus Location', address) +
    row('Device Minor', String(gpu.minor)) +
    row('GPU Firmware', machine.driver?.loaded ?? 'N/A') +
    row('GPU Excluded', 'No')
  );
}

/** As text, which is what a reader of text gets of it: bytes that are no UTF-8 become U+FFFD. */
function configSpace(gpu: SimulatedGpu): string {
  const id = Number.parseInt(gpu.model.deviceId.slice(0, 4), 16);
  const head = [0xde, 0x10, id & 0xff, id >> 8, 0x06, 0x04, 0x10, 0x00];
  const bytes = Array.from({ length: 64 }, (_, at) => (gpu.lost ? 0xff : (head[at] ?? 0)));
  return Buffer.from(bytes).toString('utf8');
}
