import type { HostReader } from '../../host/index.ts';
import { defineProbe } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import type { PciFact, PciGpu } from './fact.ts';
import { isDeadConfig, isGpuClass, isSwitchClass, parsePciId, parsePciOptions } from './parse-pci-id.ts';

const buses = '/sys/bus';
const devices = '/sys/bus/pci/devices';
const commandLine = '/proc/cmdline';
const parts = ['vendor', 'device', 'class', 'driver', 'driver_override', 'config'];
const nvidia = '10de';

export const pciProbe = defineProbe({
  key: 'pci',
  title: 'NVIDIA GPUs and NVSwitches on the PCI bus, the kernel driver that holds each, and what is kept for guests',
  everyMs: 60_000,
  inputs: {
    files: [buses, devices, ...parts.map((name) => `${devices}/*/${name}`), commandLine],
    commands: [],
  },
  async collect({ host }) {
    const listed = await host.listDir(devices);
    const options = await host.readText(commandLine);
    const partial: Gap[] = [];
    if (!options.ok && options.because !== 'absent') partial.push({ path: 'passthroughIds', because: options.because });
    const value: PciFact = { gpus: [], nvswitches: [], ...parsePciOptions(options.ok ? options.value : '') };
    if (!listed.ok) {
      // A kernel with other buses and no PCI has no PCI devices; without /sys nothing is known.
      const others = listed.because === 'absent' ? await host.listDir(buses) : listed;
      if (others.ok && others.value.length > 0) return { value, unreadable: null, partial };
      return { value: null, unreadable: { because: listed.because, detail: listed.detail } };
    }
    for (const { name: address } of listed.value) {
      const id = async (file: string) => {
        const read = await host.readText(`${devices}/${address}/${file}`);
        const value = read.ok ? parsePciId(read.value) : null;
        if (value === null)
          partial.push({ path: `gpus.${address}`, because: read.ok ? 'unexpected_text' : read.because });
        return value;
      };
      const vendorId = await id('vendor');
      if (vendorId !== nvidia) continue;
      const classCode = await id('class');
      if (classCode === null || !(isGpuClass(classCode) || isSwitchClass(classCode))) continue;
      const deviceId = await id('device');
      if (deviceId === null) continue;
      const list = isGpuClass(classCode) ? 'gpus' : 'nvswitches';
      const at = `${list}.${value[list].length}`;
      const driver = await readDriver(host, address, (because) => partial.push({ path: `${at}.driver`, because }));
      if (list === 'nvswitches') value.nvswitches.push({ address, deviceId, driver });
      else value.gpus.push({ address, vendorId, deviceId, classCode, driver, ...(await readState(host, address)) });
    }
    return { value, unreadable: null, partial };
  },
});

async function readDriver(host: HostReader, address: string, gap: (because: string) => void): Promise<string | null> {
  const driver = await host.readLink(`${devices}/${address}/driver`);
  if (!driver.ok && driver.because !== 'absent') gap(driver.because);
  return driver.ok ? (driver.value.split('/').at(-1) ?? null) : null;
}

/** Neither is worth a gap: older kernels have no override, and a guest may have no configuration space to show. */
async function readState(host: HostReader, address: string): Promise<Pick<PciGpu, 'driverOverride' | 'configDead'>> {
  const override = await host.readText(`${devices}/${address}/driver_override`);
  const config = await host.readText(`${devices}/${address}/config`);
  const name = override.ok ? override.value.trim() : '';
  return {
    driverOverride: name === '' || name === '(null)' ? null : name,
    configDead: config.ok ? isDeadConfig(config.value) : null,
  };
}
