import type { HostReader, Read } from '@gpufleet/shared/host';

/** Secrets and names as people and programs write them. None of these may be found in a capture. */
const secret = 'CANARY-0a1b2c';
const mac = '3c:ec:ef:a1:b2:c3';
export const canaries: readonly string[] = [
  'CANARY',
  'Q0FOQVJZ',
  '7731904412345',
  'SN-KANARI-77',
  mac,
  '3c-ec-ef-a1-b2-c3',
  '3cecefa1b2c3',
  '3eec:efff:fea1',
  '93.184.216.34',
  '2606:2800:220:1',
  'ops@kanari-corp.io',
  'kanariuser',
  'deadbeef-0042-4042-8042-c0ffee424242',
  'deadbeef004240428042c0ffee424242',
  'KANARI_DISK_1',
];
const token = `K10${'ab12'.repeat(16)}::server:${secret}`;

/** Lines of configuration files: each holds in TOML, YAML, INI or an environment. */
const settings = [
  `password = "${secret}"`,
  `auth = "${Buffer.from('CANARY:CANARY').toString('base64')}"`,
  `identitytoken = '${secret}'`,
  `token: ${secret}`,
  `agent-token: "${secret}"`,
  `K3S_TOKEN=${secret}`,
  `DB_PASS=${secret}`,
  `Environment=AWS_SECRET_ACCESS_KEY=${secret} "REGISTRY_PASSWORD=${secret} x"`,
  `datastore-endpoint: "mysql://root:${secret}@tcp(db:3306)/k3s"`,
  `dsn = "root:${secret}@tcp(db:3306)/k3s"`,
  `HTTPS_PROXY=http://proxyuser:${secret}@proxy.example.com:3128/`,
  `blob = "https://store.example.com/x?sv=1&sig=${secret}%3D"`,
  `ExecStart=/usr/bin/dockerd --token ${secret} --registry-password=${secret} -H fd://`,
  `join: ${token}`,
  `header = "Authorization: Bearer ${secret}abcdef"`,
  `jwt: eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJDQU5BUlkifQ.CANARY_sig`,
  `nvapi-CANARY0123456789abcdefCANARY`,
  `client-key-data: ${Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\nCANARY\n`).toString('base64')}Q0FOQVJZ`,
  `tls: "-----BEGIN EC PRIVATE KEY-----\\nCANARY\\n-----END EC PRIVATE KEY-----"`,
];
const identities = [
  `serial: 7731904412345`,
  `Serial Number : 7731904412345`,
  `usb 1-1: SerialNumber: SN-KANARI-77`,
  `Kernel command line: root=UUID=deadbeef-0042-4042-8042-c0ffee424242 androidboot.serialno=7731904412345 quiet`,
  `BOOTIF=01-3c-ec-ef-a1-b2-c3 systemd.machine_id=deadbeef004240428042c0ffee424242 ip=93.184.216.34::10.0.0.1`,
  `[UFW BLOCK] IN=eth0 OUT= MAC=${mac}:${mac}:08:00 SRC=93.184.216.34 DST=10.0.0.2 LEN=40`,
  `eth0: renamed to enx3cecefa1b2c3, link/ether ${mac} brd ff:ff:ff:ff:ff:ff inet6 fe80::3eec:efff:fea1:b2c3/64`,
  `server: https://93.184.216.34:6443 [2606:2800:220:1::5]:443 inet6 2606:2800:220:1:248:1893:25c8:1946/64`,
  `maintainer: ops@kanari-corp.io`,
  `KUBECONFIG=/home/kanariuser/.kube/config USER=kanariuser`,
  `audit: acct="kanariuser" AUID="kanariuser" exe="/home/kanariuser/bin/x"`,
  `mount /dev/disk/by-id/nvme-KANARI_DISK_1-part1 /dev/disk/by-uuid/deadbeef-0042-4042-8042-c0ffee424242`,
];

const members = {
  auths: { 'r.example.com': { auth: secret, identitytoken: secret } },
  'registry-token': secret,
  password: secret,
  proxies: { 'http-proxy': `http://u:${secret}@proxy.example.com:3128` },
  serial: '7731904412345',
  machineID: 'deadbeef004240428042c0ffee424242',
  systemUUID: 'deadbeef-0042-4042-8042-c0ffee424242',
  mac,
  address: '93.184.216.34',
  note: 'ask ops@kanari-corp.io, /home/kanariuser/notes',
  args: ['--token', secret, `--password=${secret}`],
  inner: JSON.stringify({ token: secret, server: 'https://93.184.216.34/' }),
};
const words = [
  '--token',
  secret,
  `--registry-password=${secret}`,
  `http://u:${secret}@p/`,
  '--home=/home/kanariuser/x',
];

/** The same text with all of it in it, in the manner of the text, and otherwise the text that it was. */
export function plant(text: string): string {
  const trimmed = text.trimEnd();
  if (text.includes('\0')) return `${text}${words.join('\0')}\0`;
  if (/^\s*\{[\s\S]*\}$/.test(trimmed)) {
    const separator = /^\s*\{\s*\}$/.test(trimmed) ? '' : ',';
    return text.replace('{', `{"planted": ${JSON.stringify(members)}${separator}`);
  }
  if (trimmed.endsWith('>') && /^\s*</.test(text)) {
    const end = text.lastIndexOf('</');
    const tags = `<planted><serial>7731904412345</serial><password>${secret}</password><note>/home/kanariuser/x 93.184.216.34 ${mac}</note></planted>`;
    return text.slice(0, end) + tags + text.slice(end);
  }
  // A comment in what can have comments; to a log it is one more line.
  return `${trimmed}\n${[...settings, ...identities].map((line) => `# ${line}`).join('\n')}\n`;
}

/** Everything planted, by the sort of text that it makes. */
export const plantedTexts: readonly (readonly [string, string])[] = [
  ['settings', `${[...settings, ...identities].join('\n')}\n`],
  ['settings that are commented out', plant('x = 1')],
  ['settings with the line ends of Windows', `${[...settings, ...identities].join('\r\n')}\r\n`],
  ['a list', `${settings.map((line) => `- ${line}`).join('\n')}\n`],
  ['a log', `${[...settings, ...identities].map((line) => `[   12.345678] unit[77]: ${line}`).join('\n')}\n`],
  ['JSON', JSON.stringify({ planted: members })],
  ['JSON over lines', JSON.stringify({ planted: members }, null, 2)],
  ['JSON that is cut off', JSON.stringify({ planted: members }).slice(0, -40)],
  ['words with NUL between', `dockerd\0${words.join('\0')}\0`],
  ['XML', plant('<a></a>')],
];

/** A host in which whatever is read holds all of it; short values of the kernel stay what they are. */
export function plantedHost<H extends HostReader>(host: H): H {
  const planted = async (read: Promise<Read<string>>): Promise<Read<string>> => {
    const found = await read;
    const isShort = found.ok && !found.value.includes('\0') && found.value.trim().split('\n').length < 2;
    return found.ok && !(isShort && found.value.length < 200) ? { ok: true, value: plant(found.value) } : found;
  };
  return {
    ...host,
    readText: (path, options) => planted(host.readText(path, options)),
    run: async (argv, options) => {
      const ran = await host.run(argv, options);
      return ran.ok && ran.value.stdout.length > 200
        ? { ok: true, value: { ...ran.value, stdout: plant(ran.value.stdout) } }
        : ran;
    },
  };
}
