import { isIPv4, isIPv6 } from 'node:net';
import { ipv4For, ipv6For, macFor, type Stand, serialFor, userFor, uuidFor } from './stand-ins.ts';

export interface IdentityOptions {
  /** In lists of packages four numbers with dots that fill a column are a version. */
  hasVersions?: boolean;
}

const MAC = /(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])/gi;
/** Of the start from a network: `BOOTIF=01-` and the address. */
const MAC_DASHES = /(?<![0-9a-f-])((?:01-)?)([0-9a-f]{2}(?:-[0-9a-f]{2}){5})(?![0-9a-f-])/gi;
/** Of the firewall's lines in the kernel log: receiver, sender, type. */
const MAC_FRAME =
  /\bMAC=([0-9a-f]{2}(?::[0-9a-f]{2}){5}):([0-9a-f]{2}(?::[0-9a-f]{2}){5})(?=:[0-9a-f]{2}:[0-9a-f]{2})/gi;
/** A name of a network card that is made from its address. */
const MAC_NAME = /\b(enx|wlx|wwx)([0-9a-f]{12})\b/g;
/** A link-local address that is made from one. */
const MAC_LINK_LOCAL = /\bfe80:(?::|(?:0{1,4}:){3})[0-9a-f]{1,4}:[0-9a-f]{0,2}ff:fe[0-9a-f]{2}:[0-9a-f]{1,4}\b/gi;
const IPV4 = /(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}(?![\w-]|\.\w)/g;
const IPV6 = /(?<![\w:.])[23][0-9a-f]{3}(?::[0-9a-f]{0,4}){2,7}(?![\w:])/gi;
const SERIAL_TAG = /(<((?:\w{1,40}_)?serial(?:_number)?)>)([^<]*)(?=<\/\2>)/gi;
const SERIAL_KEY =
  /((?:\b|_)serial(?:[ _-]?(?:number|num|no))?\.?\\{0,16}["']?[ \t]*[:=][ \t]*\\{0,16}["']?)([a-z0-9][\w.:-]{3,})(?=\\{1,16}["']|["']|[ \t]*[,}\]]|[ \t]*\r?$)/gim;
const SERIAL_PCI = /(\bSerial Number )([0-9a-f]{2}(?:-[0-9a-f]{2}){7})\b/gi;
/** Arguments of the kernel, where nothing is quoted. */
const SERIAL_ARGUMENT = /(\bserial(?:no|number)=)([\w-]{4,64})(?![\w-])/gi;
const DISK_ID = /(\/dev\/disk\/by-id\/)([^\s\0"',:)]{1,255})/g;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Those of file systems, boards, machines and clusters of GPUs; GPUs keep theirs, which findings name them by. */
const KEYED_UUID = new RegExp(
  String.raw`((?:UUID=|/by-(?:part)?uuid/|luks[.-](?:uuid=|name=)?(?:luks-)?|\b(?:system|product|machine|boot|cluster)[ _-]?(?:uuid|id)\\{0,16}["']?>?[ \t]*[:=]?[ \t]*\\{0,16}["']?))(${UUID})`,
  'gi',
);
const MACHINE_ID = /(\bmachine[ _.-]?id\\{0,16}["']?[ \t]*[:=][ \t]*\\{0,16}["']?)([0-9a-f]{32})\b/gi;
const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}([a-z]{2,24})(?![\w.-]|\()/gi;
const UNIT_ENDING = /^(?:service|socket|timer|mount|automount|target|slice|scope|device|path|swap|local)$/i;
const HOME = /(\/home\/)([^\s\0/"'`:,;)}\]<>\\]+)/g;
/** Users as environments, units, the audit log and systemd's messages name them. */
const NAMED_USER =
  /(\b(?:USER|LOGNAME|SUDO_USER|acct|A?UID|[EFS]?S?UID|O?UID)=["']?|^User=|\bof [Uu]ser )([A-Za-z_][\w.-]{0,63})(?![\w.-])/gm;
const SYSTEM_USER = /^(?:root|nobody|unset|kernel|daemon|docker|containerd|nvidia[\w-]*|systemd[\w-]*|_\w+)$/;

/** Takes out what names a person, a machine or its place on the internet. */
export function redactIdentities(text: string, stand: Stand, options: IdentityOptions = {}): string {
  const known = text
    .replace(SERIAL_TAG, (_, head: string, _tag: string, value: string) => `${head}${serialFor(value, stand)}`)
    .replace(SERIAL_KEY, (_, head: string, value: string) => keyedSerial(head, value, stand))
    .replace(SERIAL_PCI, (_, head: string, value: string) => `${head}${serialFor(value, stand)}`)
    .replace(SERIAL_ARGUMENT, (_, head: string, value: string) => `${head}${serialFor(value, stand)}`)
    .replace(DISK_ID, (_, head: string, value: string) => `${head}${stand('disk', value, (count) => `disk-${count}`)}`)
    .replace(KEYED_UUID, (_, head: string, value: string) => `${head}${uuidFor(value, stand)}`)
    .replace(MACHINE_ID, (_, head: string, value: string) => `${head}${machineIdFor(value, stand)}`)
    .replace(MAC_FRAME, (_, to: string, from: string) => `MAC=${macFor(to, stand)}:${macFor(from, stand)}`)
    .replace(MAC, (mac) => macFor(mac, stand))
    .replace(
      MAC_DASHES,
      (_, head: string, mac: string) => `${head}${withDashes(macFor(mac.replaceAll('-', ':'), stand))}`,
    )
    .replace(MAC_NAME, (_, head: string, mac: string) => `${head}${macFor(withColons(mac), stand).replaceAll(':', '')}`)
    .replace(MAC_LINK_LOCAL, (address) =>
      stand('link', address.toLowerCase(), (count) => `fe80::${count.toString(16)}`),
    );
  const isVersion = (address: string, at: number): boolean =>
    isAfterVersion(known, at) || (options.hasVersions === true && isColumn(known, at, address.length));
  return known
    .replace(IPV4, (address: string, at: number) =>
      !isIPv4(address) || isVersion(address, at) ? address : ipv4For(address, stand),
    )
    .replace(IPV6, (address) => (isIPv6(address) ? ipv6For(address, stand) : address))
    .replace(EMAIL, (address, ending: string) => (UNIT_ENDING.test(ending) ? address : emailFor(address, stand)))
    .replace(HOME, (_, head: string, user: string) => `${head}${userFor(user, stand)}`)
    .replace(NAMED_USER, (whole, head: string, user: string) =>
      SYSTEM_USER.test(user) ? whole : `${head}${userFor(user, stand)}`,
    );
}

/** The members of /etc/group, and the groups that people have for themselves. */
export function redactGroups(text: string, stand: Stand): string {
  return text.replace(
    /^([^:\n]*):([^:\n]*):(\d*):([^\n\r]*)/gm,
    (_, name: string, word: string, gid: string, members: string) => {
      const isPersonal = Number(gid) >= 1_000 && Number(gid) < 60_000;
      const people = members
        .split(',')
        .map((member) => (member === '' || SYSTEM_USER.test(member) ? member : userFor(member, stand)));
      return `${isPersonal ? userFor(name, stand) : name}:${word}:${gid}:${people.join(',')}`;
    },
  );
}

/** A number in JSON has no quotes, and what stands for it needs them. */
function keyedSerial(head: string, value: string, stand: Stand): string {
  const made = serialFor(value, stand);
  return made !== value && /["'][ \t]*:[ \t]*$/.test(head) ? `${head}"${made}"` : `${head}${made}`;
}

function machineIdFor(value: string, stand: Stand): string {
  return stand('machine', value.toLowerCase(), (count) => count.toString(16).padStart(32, '0'));
}

function emailFor(address: string, stand: Stand): string {
  if (/@(?:[\w-]+\.)*example\.(?:com|net|org)$/i.test(address)) return address;
  return stand('email', address.toLowerCase(), (count) => `user${count}@example.com`);
}

/** Four numbers with dots after the word version are one: packages and firmware have them. */
function isAfterVersion(text: string, at: number): boolean {
  return /version\W{0,40}$/i.test(text.slice(Math.max(0, at - 60), at));
}

function withDashes(mac: string): string {
  return mac.replaceAll(':', '-');
}

function withColons(digits: string): string {
  return digits.replace(/(..)(?=.)/g, '$1:');
}

function isColumn(text: string, at: number, length: number): boolean {
  const [before = '\n', after = '\n'] = [text[at - 1], text[at + length]];
  return /[\t\n]/.test(before) && /[\t\r\n]/.test(after);
}
