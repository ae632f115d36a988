import { createHash } from 'node:crypto';

/** Values that look random and are always the same for one seed and label; adding a label never shifts the others. */
export interface Seeded {
  hex(label: string, digits: number): string;
  /** 0 ≤ result < below */
  int(label: string, below: number): number;
  pick<const T extends readonly [unknown, ...unknown[]]>(label: string, from: T): T[number];
  uuid(label: string): string;
  digits(label: string, count: number): string;
}

export function seeded(seed: string): Seeded {
  const hex = (label: string, digits: number) =>
    createHash('sha512').update(`${seed}\n${label}`).digest('hex').slice(0, digits);
  const int = (label: string, below: number) => Number.parseInt(hex(label, 12), 16) % below;
  return {
    hex,
    int,
    pick: (label, from) => from[int(label, from.length)],
    uuid: (label) => {
      const h = hex(label, 32);
      return `${h.slice(0, 8)}-${h.slice(8, 12)}-${h.slice(12, 16)}-${h.slice(16, 20)}-${h.slice(20, 32)}`;
    },
    digits: (label, count) =>
      Array.from({ length: count }, (_, at) =>
        String(int(`${label}/${at}`, at === 0 ? 9 : 10) + (at === 0 ? 1 : 0)),
      ).join(''),
  };
}
