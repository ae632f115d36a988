export interface MigTables {
  /** `mig -lgip`: profiles that a GPU offers. IDs mean different sizes on different GPUs. */
  profiles: { gpu: number; name: string; id: number; free: number; total: number; memoryGiB: number | null }[];
  /** `mig -lgi` */
  gpuInstances: { gpu: number; profile: string; profileId: number; id: number; start: number; size: number }[];
  /** `mig -lci` */
  computeInstances: { gpu: number; gpuInstanceId: number; profile: string; profileId: number; id: number }[];
}

const profileRow = /^\|\s*(\d{1,9})\s+MIG (\S+)\s+(\d{1,9})\s+(\d{1,9})\/(\d{1,9})\s+(\d{1,5}\.\d{1,3})?/;
const computeRow = /^\|\s*(\d{1,9})\s+(\d{1,9})\s+MIG (\S+)\s+(\d{1,9})\s+(\d{1,9})\s+\d+:\d+\s*\|/;
const instanceRow = /^\|\s*(\d{1,9})\s+MIG (\S+)\s+(\d{1,9})\s+(\d{1,9})\s+(\d{1,9}):(\d{1,9})\s*\|/;

/** The tables of `nvidia-smi mig`, whatever their width; null when the text has none of them. */
export function parseMigTables(text: string): MigTables | null {
  const tables: MigTables = { profiles: [], gpuInstances: [], computeInstances: [] };
  const numbers = (row: RegExpExecArray, ...groups: number[]) => groups.map((group) => Number(row[group]));
  for (const line of text.split(/\r?\n/)) {
    const profile = profileRow.exec(line);
    const compute = computeRow.exec(line);
    const instance = instanceRow.exec(line);
    if (profile) {
      const [gpu = 0, id = 0, free = 0, total = 0] = numbers(profile, 1, 3, 4, 5);
      const memoryGiB = profile[6] === undefined ? null : Number(profile[6]);
      tables.profiles.push({ gpu, name: profile[2] ?? '', id, free, total, memoryGiB });
    } else if (compute) {
      const [gpu = 0, gpuInstanceId = 0, profileId = 0, id = 0] = numbers(compute, 1, 2, 4, 5);
      tables.computeInstances.push({ gpu, gpuInstanceId, profile: compute[3] ?? '', profileId, id });
    } else if (instance) {
      const [gpu = 0, profileId = 0, id = 0, start = 0, size = 0] = numbers(instance, 1, 3, 4, 5, 6);
      tables.gpuInstances.push({ gpu, profile: instance[2] ?? '', profileId, id, start, size });
    }
  }
  const rows = tables.profiles.length + tables.gpuInstances.length + tables.computeInstances.length;
  return rows > 0 ? tables : null;
}
