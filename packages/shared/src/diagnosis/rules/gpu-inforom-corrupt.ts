import { pciAddressIn } from '../../probes/kernel-log/pci-address.ts';
import { defineRule } from '../define-rule.ts';
import { isNotLoaded } from '../host-questions.ts';
import { gpuSubject, quoted, sinceLoad } from '../kernel-events.ts';
import { sources } from '../sources.ts';

export const gpuInforomCorrupt = defineRule({
  code: 'GPU_INFOROM_CORRUPT',
  layer: 'hardware',
  severity: 'warning',
  title: 'nvidia-smi, or the kernel log, warns of a corrupted infoROM and names the GPU’s address',
  notWhen: 'neither does: nvidia-smi’s exit code 14 by itself means nothing else',
  proposes: [],
  needs: ['driver', 'gpus'],
  uses: ['kernel_log'],
  // The warnings stand below the report.
  searches: ['gpus'],
  onTegra: 'with_nvml',
  excludedBy: ({ driver }) => driver !== null && isNotLoaded(driver),
  check({ gpus, kernel_log: log }) {
    const warned = gpus.warnings
      .filter((line) => /infoROM is corrupted/i.test(line))
      .map((line) => ({ address: pciAddressIn(line), evidence: [{ source: sources.smiXml, quote: line }] }));
    const logged = log === null ? [] : sinceLoad(log).filter(({ kind }) => kind === 'inforom_corrupt');
    const told = [
      ...warned,
      ...logged.map((event) => ({ address: event.address, evidence: log === null ? [] : quoted(log, [event]) })),
    ];
    return [...new Set(told.map(({ address }) => address))].map((address) => ({
      subject: gpuSubject(address, gpus),
      severity: 'warning' as const,
      summary: `The infoROM of ${address === null ? 'a GPU' : `GPU ${address}`} is corrupted; the GPU works`,
      evidence: told.filter((one) => one.address === address).flatMap(({ evidence }) => evidence),
      remedy: null,
      person:
        'Ask the vendor for service: board data such as its power limits may be wrong. Whether it stays in use is yours to decide.',
    }));
  },
});
