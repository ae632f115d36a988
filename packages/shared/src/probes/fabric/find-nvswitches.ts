import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { parsePciId } from '../pci/parse-pci-id.ts';

const buses = '/sys/bus';
const devices = '/sys/bus/pci/devices';
const nvidia = '10de';
/** NVSwitches of Volta, Ampere and Hopper boards; other bridges of NVIDIA are parts of old chip sets. */
const deviceIds = new Set(['1ac1', '1ac2', '1af1', '22a3']);

export const nvswitchFiles = [
  buses,
  devices,
  ...['class', 'vendor', 'device', 'driver'].map((name) => `${devices}/*/${name}`),
];

/** PCI addresses of NVSwitches; null: the bus could not be read, and the reason is in `partial`. */
export async function findNvswitches(host: HostReader, partial: Gap[]): Promise<string[] | null> {
  const listed = await host.listDir(devices);
  if (!listed.ok) {
    // A kernel with other buses and no PCI has no PCI devices; without /sys nothing is known.
    const others = listed.because === 'absent' ? await host.listDir(buses) : listed;
    if (others.ok && others.value.length > 0) return [];
    partial.push({ path: 'nvswitches', because: listed.because });
    return null;
  }
  const found: string[] = [];
  for (const { name: address } of listed.value) {
    const id = async (file: string) => {
      const read = await host.readText(`${devices}/${address}/${file}`);
      if (!read.ok && read.because !== 'absent') partial.push({ path: 'nvswitches', because: read.because });
      return read.ok ? parsePciId(read.value) : null;
    };
    // "Bridge, other": few devices are, so that most are asked one thing only.
    if (!(await id('class'))?.startsWith('0680') || (await id('vendor')) !== nvidia) continue;
    const driver = await host.readLink(`${devices}/${address}/driver`);
    const isDriven = driver.ok && driver.value.endsWith('/nvidia-nvswitch');
    if (isDriven || deviceIds.has((await id('device')) ?? '')) found.push(address);
  }
  return found;
}
