import type { HostReader } from '../../host/index.ts';
import { runCommand } from '../run-command.ts';
import { detectVirtualisation } from './detect-virtualisation.ts';

const paths = {
  container: '/run/systemd/container',
  docker: '/.dockerenv',
  podman: '/run/.containerenv',
  firstProcess: '/proc/1/cgroup',
  /** Windows registers itself here, whatever kernel its subsystem runs. */
  wslInterop: '/proc/sys/fs/binfmt_misc/WSLInterop',
  wslInteropLate: '/proc/sys/fs/binfmt_misc/WSLInterop-late',
  clockSources: '/sys/devices/system/clocksource/clocksource0/available_clocksource',
  deviceTree: '/proc/device-tree/compatible',
  hypervisorNode: '/proc/device-tree/hypervisor/compatible',
};
const firmwareFiles = ['sys_vendor', 'product_name', 'board_vendor', 'bios_vendor'].map(
  (name) => `/sys/class/dmi/id/${name}`,
);
/** Asked only where the files do not tell. */
const detectArgv = ['systemd-detect-virt'] as const;

export const virtualisationFiles = [...Object.values(paths), ...firmwareFiles];
export const virtualisationCommands = [{ argv: detectArgv, required: false }] as const;

export interface Virtualisation {
  insideContainer: boolean;
  virtualisation: string | null;
}

/** `cpuInfo` and `kernel` are texts that the probe has read already. */
export async function readVirtualisation(host: HostReader, cpuInfo: string, kernel: string): Promise<Virtualisation> {
  const text = async (path: string) => {
    const read = await host.readText(path, { maxBytes: 100_000 });
    return read.ok ? read.value : null;
  };
  const isThere = async (path: string) => (await host.stat(path)).ok;
  const dockerMark = await isThere(paths.docker);
  const podmanMark = await isThere(paths.podman);
  const container = await text(paths.container);
  const cgroup = await text(paths.firstProcess);
  const firmware = (await Promise.all(firmwareFiles.map(text))).filter((line) => line !== null);
  const flags = /^flags\s*:(.*)$/m.exec(cpuInfo)?.[1];
  const virtualisation = detectVirtualisation({
    container,
    dockerMark,
    podmanMark,
    cgroup,
    kernel,
    wslInterop: (await isThere(paths.wslInterop)) || (await isThere(paths.wslInteropLate)),
    hypervisorFlag: flags === undefined ? null : /\shypervisor(?:\s|$)/.test(flags),
    clockSources: await text(paths.clockSources),
    firmware: firmware.length > 0 ? firmware.map((line) => line.trim()).join('\n') : null,
    deviceTree: await text(paths.hypervisorNode),
    hasDeviceTree: await isThere(paths.deviceTree),
  });
  return {
    insideContainer:
      dockerMark ||
      podmanMark ||
      container !== null ||
      /\/(docker|kubepods|containerd|lxc|libpod)\b/.test(cgroup ?? ''),
    virtualisation: virtualisation ?? (await ask(host)),
  };
}

async function ask(host: HostReader): Promise<string | null> {
  const said = await runCommand(host, detectArgv);
  const word = said.ok ? said.text.trim() : '';
  return /^[a-z][a-z0-9-]{1,30}$/.test(word) ? word : null;
}
