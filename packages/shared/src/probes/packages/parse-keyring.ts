import { sha1Hex } from './sha1.ts';

/** Long ids of the primary keys in a keyring, as `parseKeyFingerprints` reads it. */
export function parseKeyring(bytes: string): string[] | null {
  return parseKeyFingerprints(bytes)?.map((fingerprint) => fingerprint.slice(-16)) ?? null;
}

/**
 * Fingerprints of the primary keys in an OpenPGP keyring, binary or armoured, given one character for each byte. null:
 * it is no keyring that can be read (GnuPG's own keybox is not one that apt takes either).
 */
export function parseKeyFingerprints(bytes: string): string[] | null {
  const armoured = isArmoured(bytes);
  const parts = armoured ? armouredParts(bytes) : [bytes];
  const found = parts.map(fingerprintsOf);
  return found.some((one) => one === null) ? null : found.flatMap((one) => one ?? []);
}

/** A keyring that is text, as apt takes it from a file named `.asc`. */
export function isArmoured(bytes: string): boolean {
  return bytes.includes('-----BEGIN PGP PUBLIC KEY BLOCK-----');
}

/** null when it is no row of packets, or a row that ends early. */
function fingerprintsOf(bytes: string): string[] | null {
  const fingerprints: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const packet = packetAt(bytes, at);
    if (packet === null || packet.end > bytes.length) return null;
    // Tag 6 is a primary key; the second byte of every key is its version.
    if (packet.tag === 6 && bytes.charCodeAt(packet.start) === 4) {
      const body = bytes.slice(packet.start, packet.end);
      const length = String.fromCharCode(body.length >> 8, body.length & 0xff);
      fingerprints.push(sha1Hex(`\u0099${length}${body}`).toUpperCase());
    }
    at = packet.end;
  }
  return fingerprints;
}

/** Header of one packet in the old or the new format; lengths that keys do not use (partial, unknown) are none. */
function packetAt(bytes: string, at: number): { tag: number; start: number; end: number } | null {
  const byte = (offset: number) => bytes.charCodeAt(at + offset);
  const number = (offset: number, size: number) => {
    let value = 0;
    for (let index = 0; index < size; index += 1) value = value * 256 + byte(offset + index);
    return value;
  };
  const head = byte(0);
  if (!(head & 0x80)) return null;
  const packet = (tag: number, headSize: number, length: number) =>
    Number.isNaN(length) ? null : { tag, start: at + headSize, end: at + headSize + length };
  if (!(head & 0x40)) {
    const size = [1, 2, 4, 0][head & 3] ?? 0;
    return size === 0 ? null : packet((head >> 2) & 15, 1 + size, number(1, size));
  }
  const tag = head & 63;
  const first = byte(1);
  if (first < 192) return packet(tag, 2, first);
  if (first < 224) return packet(tag, 3, (first - 192) * 256 + byte(2) + 192);
  return first === 255 ? packet(tag, 6, number(2, 4)) : null;
}

function armouredParts(text: string): string[] {
  return text
    .split('-----BEGIN PGP PUBLIC KEY BLOCK-----')
    .slice(1)
    .map((block) => {
      const inside = block.split('-----END PGP')[0] ?? '';
      // Headers end at an empty line; the checksum stands on a line that begins with `=`.
      const lines = inside.split(/\r?\n/).map((line) => line.trim());
      const from = lines.findIndex((line, at) => at > 0 && line === '');
      return fromBase64(
        lines
          .slice(from + 1)
          .filter((line) => !line.startsWith('='))
          .join(''),
      );
    });
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function fromBase64(text: string): string {
  const bytes: string[] = [];
  let bits = 0;
  let held = 0;
  for (const letter of text.replace(/=+$/, '')) {
    const value = alphabet.indexOf(letter);
    if (value < 0) return '';
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(String.fromCharCode((held >> bits) & 0xff));
  }
  return bytes.join('');
}
