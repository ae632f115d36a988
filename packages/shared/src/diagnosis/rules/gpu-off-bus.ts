import { defineRule, type Found } from '../define-rule.ts';
import { busAddress, gpuName } from '../host-questions.ts';
import { sources } from '../sources.ts';

export const gpuOffBus = defineRule({
  code: 'GPU_OFF_BUS',
  layer: 'hardware',
  severity: 'critical',
  title: 'nvidia-smi says "GPU is lost", or lists fewer GPUs than the nvidia driver holds on the bus',
  notWhen: 'every bound GPU answers; GPUs bound to another driver are not counted',
  proposes: ['reboot_host'],
  needs: ['pci', 'driver', 'gpus'],
  onTegra: 'with_nvml',
  excludedBy: ({ pci, driver }) =>
    (pci !== null && !pci.gpus.some((gpu) => gpu.driver === 'nvidia')) ||
    // Without a driver that answers, nvidia-smi's silence says nothing of the GPU.
    (driver !== null && driver.loadedVersion === null),
  ifUnreadable(key, reason) {
    if (key !== 'gpus' || reason.because !== 'gpu_lost') return null;
    const address = busAddress(/[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/i.exec(reason.detail)?.[0] ?? null);
    return {
      subject: address === null ? null : sources.pciDevice(address),
      severity: 'critical',
      summary: `${address === null ? 'A GPU' : `GPU ${address}`} has fallen off the bus`,
      evidence: [{ source: sources.smiXml, quote: reason.detail }],
      remedy,
      person,
    };
  },
  check({ pci, gpus }) {
    const lost = gpus.gpus.filter((gpu) => gpu.lost).map((gpu) => lostGpu(gpuName(gpu), gpu.pciBusId));
    const bound = pci.gpus.filter((gpu) => gpu.driver === 'nvidia');
    if (gpus.gpus.length >= bound.length) return lost;
    if ((gpus.attached ?? 0) >= bound.length && lost.length === 0)
      return {
        cannotTell: `nvidia-smi counts ${gpus.attached} GPUs and describes ${gpus.gpus.length}: the report is cut`,
      };
    const answering = new Set(gpus.gpus.map((gpu) => busAddress(gpu.pciBusId)));
    if (answering.has(null))
      return { cannotTell: 'nvidia-smi lists fewer GPUs than the bus and does not say at which addresses' };
    const missing = bound.filter((gpu) => !answering.has(busAddress(gpu.address)));
    return [...lost, ...missing.map((gpu) => missingGpu(gpu.address, gpus.gpus.length, bound.length))];
  },
});

const remedy: Found['remedy'] = { jobs: [{ kind: 'reboot_host', params: {} }], approval: 'approve' };
const person =
  'Where it happens again after a cold start: check power, riser and cooling, then have the card serviced.';

function lostGpu(name: string, busId: string | null): Found {
  return {
    subject: `gpu:${name}`,
    severity: 'critical',
    summary: `GPU ${busId ?? name} has fallen off the bus`,
    evidence: [{ source: sources.smiXml, quote: 'GPU is lost' }],
    remedy,
    person,
  };
}

function missingGpu(address: string, answering: number, bound: number): Found {
  return {
    // No UUID is known of a GPU that does not answer.
    subject: sources.pciDevice(address),
    severity: 'critical',
    summary: `GPU ${address} is bound to the nvidia driver but does not answer`,
    evidence: [
      { source: sources.pciDriver(address), quote: 'driver -> nvidia' },
      { source: sources.smiXml, quote: `${answering} of ${bound} GPUs listed, none at ${address}` },
    ],
    remedy,
    person,
  };
}
