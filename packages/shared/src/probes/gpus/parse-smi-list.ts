import { type Parsed, plainText, unread } from '../parsed.ts';
import { parseSmiFailure } from './parse-smi-failure.ts';

export interface SmiList {
  gpus: {
    index: number;
    /** As printed; can be empty. */
    name: string;
    uuid: string | null;
    migDevices: { index: number; profile: string; uuid: string | null }[];
  }[];
}

type Listed = SmiList['gpus'][number];

const gpuLine = /^GPU (\d{1,4}):\s?(.*?)\s*\(UUID: ([^)]*)\)/;
const migLine = /^\s+MIG (\S+)\s+Device\s+(\d{1,4}): \(UUID: ([^)]*)\)/;

/** Output of `nvidia-smi -L`: the only place where a MIG device's UUID and profile name are printed. */
export function parseSmiList(given: string): Parsed<SmiList> {
  const text = plainText(given);
  if (text === null) return unread('too_large');
  const gpus: Listed[] = [];
  let current: Listed | undefined;
  for (const line of text.split(/\r?\n/)) {
    const gpu = gpuLine.exec(line);
    if (gpu) current = { index: Number(gpu[1]), name: gpu[2] ?? '', uuid: gpu[3] || null, migDevices: [] };
    // The same GPU again: a list that was pasted or appended twice has no more GPUs than one.
    if (gpu && !gpus.some(({ uuid }) => uuid !== null && uuid === current?.uuid)) gpus.push(current as Listed);
    const mig = gpu ? null : migLine.exec(line);
    if (mig) current?.migDevices.push({ index: Number(mig[2]), profile: mig[1] ?? '', uuid: mig[3] || null });
  }
  if (gpus.length > 0) return { value: { gpus }, unreadable: [] };
  const failure = parseSmiFailure(text);
  if (failure === 'no_devices') return { value: { gpus: [] }, unreadable: [] };
  return unread(failure ?? 'not_smi_list');
}
