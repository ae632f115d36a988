import type { Sha256 } from '@gpufleet/shared/core';
import type { Host } from '../host/host.ts';

export type ConfigText =
  | { ok: true; text: string | null; sha256: string | null }
  | { ok: false; because: string; detail: string };

/** A file that is not there is a value: null text, null hash. */
export async function readConfig(host: Host, path: string, sha256: Sha256): Promise<ConfigText> {
  const read = await host.readText(path);
  if (read.ok) return { ok: true, text: read.value, sha256: sha256(read.value) };
  if (read.because === 'absent') return { ok: true, text: null, sha256: null };
  return { ok: false, because: `file_${read.because}`, detail: `${path}: ${read.detail}` };
}
