/** The same value always gets the same stand-in within one recording, so that facts still agree with each other. */
export interface Stand {
  (kind: string, value: string, make: (count: number) => string): string;
  /** What was met of a kind so far, and what stands for it. */
  met(kind: string): ReadonlyMap<string, string>;
}

export function createStandIns(): Stand {
  const known = new Map<string, Map<string, string>>();
  const made = new Map<string, Set<string>>();
  const met = (kind: string) => known.get(kind) ?? new Map<string, string>();
  const stand = (kind: string, value: string, make: (count: number) => string): string => {
    const ofKind = met(kind);
    known.set(kind, ofKind);
    const makings = made.get(kind) ?? new Set<string>();
    made.set(kind, makings);
    // What stands in for something stands for itself when a recording is recorded again.
    const found = ofKind.get(value) ?? (makings.has(value) ? value : undefined);
    if (found !== undefined) return found;
    const standIn = make(ofKind.size + 1);
    ofKind.set(value, standIn);
    makings.add(standIn);
    return standIn;
  };
  return Object.assign(stand, { met });
}

export function serialFor(value: string, stand: Stand): string {
  const plain = value.trim();
  if (/^(?:\[?(?:N\/A|Unknown|Not (?:Supported|Available).*)\]?|None|0*)$/i.test(plain)) return value;
  return stand('serial', plain, (count) => `serial-${count}`);
}

/** Folders below /home that belong to a system and not to a person: of Container-Optimized OS, for one. */
const SYSTEM_HOME = /^(?:kubernetes|linuxbrew|\*|\$\S*|%\S*)$/;

export function userFor(user: string, stand: Stand): string {
  return SYSTEM_HOME.test(user) ? user : stand('user', user, (count) => `user${count}`);
}

export function macFor(mac: string, stand: Stand): string {
  const plain = mac.toLowerCase();
  if (/^(?:00:){5}00$|^(?:ff:){5}ff$|^02:00:00:00:/.test(plain)) return mac;
  return stand('mac', plain, (count) => `02:00:00:00:${hexByte(count >> 8)}:${hexByte(count & 0xff)}`);
}

function hexByte(value: number): string {
  return value.toString(16).padStart(2, '0');
}

/** Networks that say nothing of a place: this host, private, shared, link-local, test, multicast and reserved. */
const NOT_PUBLIC =
  /^(?:0|10|127|2[2-5]\d)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^192\.0\.[02]\.|^198\.(?:1[89]|51)\.|^203\.0\.113\./;

export function ipv4For(address: string, stand: Stand): string {
  if (NOT_PUBLIC.test(address)) return address;
  return stand('ipv4', address, (count) => `198.18.${(count >> 8) & 0xff}.${count & 0xff}`);
}

export function ipv6For(address: string, stand: Stand): string {
  if (/^2001:0?db8:/i.test(address)) return address;
  return stand('ipv6', address.toLowerCase(), (count) => `2001:db8::${count.toString(16)}`);
}

export function uuidFor(value: string, stand: Stand): string {
  if (/^0{8}-0{4}-/.test(value)) return value;
  return stand(
    'uuid',
    value.toLowerCase(),
    (count) => `00000000-0000-4000-8000-${count.toString(16).padStart(12, '0')}`,
  );
}
