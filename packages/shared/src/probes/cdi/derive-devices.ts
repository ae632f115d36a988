import type { CdiFact, CdiSpec } from './fact.ts';

/** What engines make of several specs: doubled within one folder a device vanishes, over folders the later one wins. */
export function deriveDevices(
  specs: readonly Pick<CdiSpec, 'dir' | 'devices' | 'file'>[],
): Pick<CdiFact, 'conflicts' | 'devices'> {
  const files = new Map<string, { device: string; dir: string; files: string[] }>();
  for (const { dir, devices, file } of specs) {
    for (const device of devices) {
      const key = `${dir}\n${device}`;
      const entry = files.get(key) ?? { device, dir, files: [] };
      entry.files.push(file.path);
      files.set(key, entry);
    }
  }
  const entries = [...files.values()];
  const conflicts = entries
    .filter((entry) => entry.files.length > 1)
    .map(({ device, files: of }) => ({ device, files: of }));
  // The folder that counts for a device is the last one that has it, in conflict or not.
  const winners = new Map(entries.map((entry) => [entry.device, entry]));
  const devices = [...winners.values()].filter((entry) => entry.files.length === 1).map(({ device }) => device);
  return { conflicts, devices: devices.sort() };
}
