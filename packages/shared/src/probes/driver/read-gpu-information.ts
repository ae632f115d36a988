import type { HostReader } from '../../host/index.ts';
import { type GpuInformation, parseGpuInformation } from './parse-module-files.ts';

const root = '/proc/driver/nvidia/gpus';

export const gpuInformationFiles = [root, `${root}/*/information`];

export type GpuInformations =
  | { ok: true; gpus: (GpuInformation & { address: string; because: string | null })[] }
  | { ok: false; because: string };

/** What the loaded module says of each GPU that it holds. None where no module is loaded. */
export async function readGpuInformation(host: HostReader): Promise<GpuInformations> {
  const listed = await host.listDir(root);
  if (!listed.ok) return listed.because === 'absent' ? { ok: true, gpus: [] } : { ok: false, because: listed.because };
  const gpus: Extract<GpuInformations, { ok: true }>['gpus'] = [];
  for (const { name: address } of listed.value) {
    const read = await host.readText(`${root}/${address}/information`);
    const because = read.ok ? null : read.because;
    gpus.push({ address, because, ...parseGpuInformation(read.ok ? read.value : '') });
  }
  return { ok: true, gpus };
}
