import type { Driver, SimulatedGpu } from './gpu.ts';
import { healthElements } from './smi-xml-health.ts';
import { busElements, clocksEventElements, identityElements } from './smi-xml-identity.ts';
import { powerElements } from './smi-xml-power.ts';
import { renderElements } from './xml.ts';

/** Driver generations whose element sets differ. */
export type Generation = 535 | 550 | 570 | 580;

export function generationOf(version: string): Generation {
  const major = Number(version.split('.')[0]);
  return major >= 580 ? 580 : major >= 570 ? 570 : major >= 550 ? 550 : 535;
}

/** `nvidia-smi -q -x` as this driver generation prints it. */
export function smiXml(driver: Driver, gpus: readonly SimulatedGpu[], nowMs: number): string {
  const generation = generationOf(driver.library);
  const head = renderElements(
    [
      ['timestamp', cTime(nowMs)],
      ['driver_version', driver.loaded ?? 'N/A'],
      ['cuda_version', driver.cuda],
      ['attached_gpus', String(gpus.length)],
    ],
    1,
  );
  const body = gpus.map((gpu) => {
    const elements = [
      ...identityElements(gpu, driver, generation),
      ...busElements(gpu, generation),
      ...clocksEventElements(gpu, generation),
      ...healthElements(gpu, generation),
      ...powerElements(gpu, generation),
    ];
    return `\t<gpu id="${gpu.busId}">\n${renderElements(elements, 2)}\t</gpu>\n\n`;
  });
  const dtd = generation >= 580 ? 13 : 12;
  return `<?xml version="1.0" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v${dtd}.dtd">\n<nvidia_smi_log>\n${head}${body.join('')}</nvidia_smi_log>\n`;
}

/** `Thu Jul  2 10:00:00 2026`: the C library's ctime, in UTC. */
function cTime(nowMs: number): string {
  // Only spells the number it is given: no clock is read.
  const [day = '', date = '', month = '', year = '', time = ''] = new Date(nowMs).toUTCString().split(' ');
  return `${day.replace(',', '')} ${month} ${String(Number(date)).padStart(2)} ${time} ${year}`;
}
