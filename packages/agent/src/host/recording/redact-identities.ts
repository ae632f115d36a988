import { isIPv4, isIPv6 } from 'node:net';

export type Stand = (kind: string, value: string, make: (count: number) => string) => string;

/** The same value always gets the same stand-in within one recording, so that facts still agree with each other. */
export function createStandIns(): Stand {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  return (kind, value, make) => {
    const key = `${kind} ${value}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const made = make(count);
    known.set(key, made);
    // What stands in for something stands for itself when a recording is recorded again.
    known.set(`${kind} ${made}`, made);
    return made;
  };
}

const MAC = /(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])/gi;
const IPV4 = /(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\w)/g;
const IPV6 = /(?<![\w:.])[23][0-9a-f]{3}(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi;
const SERIAL_TAG = /(<((?:\w+_)?serial(?:_number)?)>)([^<]*)(?=<\/\2>)/gi;
const SERIAL_KEY =
  /(\bserial(?:[ _-]?(?:number|num|no))?\.?\\*["']?[ \t]*[:=][ \t]*\\*["']?)([a-z0-9][\w.:-]{3,})(?=\\*["']|[ \t]*[,}\]]|[ \t]*\r?$)/gim;
const SERIAL_PCI = /(\bSerial Number )([0-9a-f]{2}(?:-[0-9a-f]{2}){7})\b/gi;

/** Takes out what names a person, a machine or its place on the internet. */
export function redactIdentities(text: string, stand: Stand): string {
  return text
    .replace(SERIAL_TAG, (_, head: string, _tag: string, value: string) => `${head}${serialFor(value, stand)}`)
    .replace(SERIAL_KEY, (_, head: string, value: string) => keyedSerial(head, value, stand))
    .replace(SERIAL_PCI, (_, head: string, value: string) => `${head}${serialFor(value, stand)}`)
    .replace(MAC, (mac) => macFor(mac, stand))
    .replace(IPV4, (address: string, at: number) => (isVersion(text, at) ? address : ipv4For(address, stand)))
    .replace(IPV6, (address) => ipv6For(address, stand))
    .replace(/(\/home\/)([^\s/"':,;]+)/g, (_, head: string, user: string) => `${head}${userFor(user, stand)}`);
}

/** A number in JSON has no quotes, and what stands for it needs them. */
function keyedSerial(head: string, value: string, stand: Stand): string {
  const made = serialFor(value, stand);
  return made !== value && /["'][ \t]*:[ \t]*$/.test(head) ? `${head}"${made}"` : `${head}${made}`;
}

export function serialFor(value: string, stand: Stand): string {
  const plain = value.trim();
  if (/^(?:\[?(?:N\/A|Unknown|Not (?:Supported|Available).*)\]?|None|0*)$/i.test(plain)) return value;
  return stand('serial', plain, (count) => `serial-${count}`);
}

export function userFor(user: string, stand: Stand): string {
  return stand('user', user, (count) => `user${count}`);
}

function macFor(mac: string, stand: Stand): string {
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

function ipv4For(address: string, stand: Stand): string {
  if (!isIPv4(address) || NOT_PUBLIC.test(address)) return address;
  return stand('ipv4', address, (count) => `198.18.${(count >> 8) & 0xff}.${count & 0xff}`);
}

/** Four numbers with dots after the word version are one: packages and firmware have them. */
function isVersion(text: string, at: number): boolean {
  return /version\W{0,40}$/i.test(text.slice(Math.max(0, at - 60), at));
}

function ipv6For(address: string, stand: Stand): string {
  if (!isIPv6(address) || /^2001:db8:/i.test(address)) return address;
  return stand('ipv6', address.toLowerCase(), (count) => `2001:db8::${count.toString(16)}`);
}
