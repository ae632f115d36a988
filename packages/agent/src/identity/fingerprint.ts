import type { Sha256 } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';

const sources = {
  product_uuid: '/sys/class/dmi/id/product_uuid',
  board_serial: '/sys/class/dmi/id/board_serial',
  device_tree_serial: '/proc/device-tree/serial-number',
  machine_id: '/etc/machine-id',
} as const;
type SourceName = keyof typeof sources;

/** Hash of each readable part of what does not change on one machine. Never the values: they are serial numbers. */
export type FingerprintParts = Partial<Record<SourceName, string>>;

export async function collectFingerprintParts(host: HostReader, sha256: Sha256): Promise<FingerprintParts> {
  const parts: FingerprintParts = {};
  for (const name of Object.keys(sources) as SourceName[]) {
    const read = await host.readText(sources[name], { maxBytes: 4096 });
    if (!read.ok) continue;
    const value = read.value.replaceAll('\0', '').trim().toLowerCase();
    if (value !== '' && !isFiller(value)) parts[name] = sha256(`${name}\n${value}`).slice(0, 32);
  }
  return parts;
}

/** One hash over all parts; a machine that shows none is told apart by `fallback` only (its public key). */
export function deriveFingerprint(parts: FingerprintParts, fallback: string, sha256: Sha256): string {
  const known = Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = known.length === 0 ? `none\n${fallback}` : known.map(([name, hash]) => `${name}=${hash}`).join('\n');
  return sha256(text).slice(0, 40);
}

export type SameMachine = { same: true } | { same: false; differs: SourceName[] };

/**
 * Is this the machine that enrolled? Only parts that can be read both times are compared: an agent without root does not see
 * the serial numbers. Hardware decides where it can: a new machine-id on known hardware is a reinstalled system, and a
 * known machine-id on other hardware is a copied disk.
 */
export function compareMachine(enrolled: FingerprintParts, now: FingerprintParts): SameMachine {
  const comparable = (Object.keys(sources) as SourceName[]).filter((name) => enrolled[name] && now[name]);
  const hardware = comparable.filter((name) => name !== 'machine_id');
  const decisive = hardware.length > 0 ? hardware : comparable;
  const differs = decisive.filter((name) => enrolled[name] !== now[name]);
  return differs.length === 0 ? { same: true } : { same: false, differs };
}

// Placeholders that vendors ship on whole production runs: equal values would say nothing.
function isFiller(value: string): boolean {
  return (
    /^(to be filled|default string|not specified|none|n\/a|unknown|system serial|uninitialized|base board)/.test(
      value,
    ) ||
    /^[0f\s.-]+$/.test(value) ||
    value === '03000200-0400-0500-0006-000700080009'
  );
}
