/**
 * A PCI address in any spelling of the driver's ages as sysfs spells it: `PCI:0000:b3:00`, `0000:b3:00.0`,
 * `00000000:B3:00.0`, `PCI:0000:41:00 GPU-I:01` and, without a domain, `0003:00`. null when it is none.
 */
export function toPciAddress(text: string): string | null {
  const match =
    /^(?:PCI:)?(?:([0-9a-f]{4,8}):)?([0-9a-f]{1,4}):([0-9a-f]{2})(?:\.([0-7]))?(?:\s+GPU-I:\w{1,8})?$/i.exec(
      text.trim(),
    );
  if (!match) return null;
  const [domain = 0, bus = 0, device = 0] = [match[1] ?? '0', match[2], match[3]].map((part) =>
    Number.parseInt(part ?? '', 16),
  );
  if (bus > 0xff || device > 0x1f) return null;
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(device, 2)}.${match[4] ?? '0'}`;
}

/** The first address in a message; a pair of ids such as `10de:2b85` is none. */
export function pciAddressIn(message: string): string | null {
  const found = /\b(?:PCI:)?[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?(?![\w:])/i.exec(message);
  return found ? toPciAddress(found[0]) : null;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
