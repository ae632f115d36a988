import { defineProbe } from '../define-probe.ts';
import type { Gap } from '../parsed.ts';
import type { PciFact } from './fact.ts';
import { isGpuClass, parsePciId } from './parse-pci-id.ts';

const buses = '/sys/bus';
const devices = '/sys/bus/pci/devices';
const nvidia = '10de';

export const pciProbe = defineProbe({
  key: 'pci',
  title: 'NVIDIA GPUs on the PCI bus and the kernel driver that holds each',
  everyMs: 60_000,
  inputs: {
    files: [buses, devices, ...['vendor', 'device', 'class', 'driver'].map((name) => `${devices}/*/${name}`)],
    commands: [],
  },
  async collect({ host }) {
    const listed = await host.listDir(devices);
    if (!listed.ok) {
      // A kernel with other buses and no PCI has no PCI devices; without /sys nothing is known.
      const others = listed.because === 'absent' ? await host.listDir(buses) : listed;
      if (others.ok && others.value.length > 0) return { value: { gpus: [] }, unreadable: null };
      return { value: null, unreadable: { because: listed.because, detail: listed.detail } };
    }
    const gpus: PciFact['gpus'] = [];
    const partial: Gap[] = [];
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
      if (classCode === null || !isGpuClass(classCode)) continue;
      const deviceId = await id('device');
      if (deviceId === null) continue;
      const driver = await host.readLink(`${devices}/${address}/driver`);
      if (!driver.ok && driver.because !== 'absent')
        partial.push({ path: `gpus.${gpus.length}.driver`, because: driver.because });
      gpus.push({
        address,
        vendorId,
        deviceId,
        classCode,
        driver: driver.ok ? (driver.value.split('/').at(-1) ?? null) : null,
      });
    }
    return { value: { gpus }, unreadable: null, partial };
  },
});
