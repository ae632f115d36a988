export interface MigPlacements {
  gpu: number;
  profileId: number;
  starts: number[];
  size: number;
}

const row = /^GPU\s+(\d{1,4}) Profile ID\s+(\d{1,4}) Placements?\s*:\s*\{([\d,\s]{0,400})\}:(\d{1,3})/;

/** Output of `nvidia-smi mig -lgipp`. */
export function parseMigPlacements(text: string): MigPlacements[] {
  return text
    .slice(0, 1_000_000)
    .split(/\r?\n/)
    .flatMap((line) => {
      const [, gpu, profileId, starts = '', size] = row.exec(line.trim()) ?? [];
      if (gpu === undefined) return [];
      const numbers = starts.split(',').flatMap((start) => (start.trim() === '' ? [] : Number(start)));
      return [{ gpu: Number(gpu), profileId: Number(profileId), starts: numbers, size: Number(size) }];
    });
}
