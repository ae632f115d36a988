import type { HostReader } from '../../host/index.ts';
import type { Gap } from '../parsed.ts';
import { runCommand } from '../run-command.ts';
import type { OsFact } from './fact.ts';
import { parseEfiFlag, parseLockdown, parseMokutil, parseSelinux, parseUidMap } from './parse-security-files.ts';

const efi = '/sys/firmware/efi';
const globalVariables = '8be4df61-93ca-11d2-aa0d-00e098032b8c';
const paths = {
  efi,
  secureBoot: `${efi}/efivars/SecureBoot-${globalVariables}`,
  setupMode: `${efi}/efivars/SetupMode-${globalVariables}`,
  /** Shim's own switch: the kernel trusts it as far as the firmware. */
  shim: `${efi}/efivars/MokSBStateRT-605dab50-e046-4300-abb6-3dd810dd8b23`,
  lockdown: '/sys/kernel/security/lockdown',
  selinux: '/sys/fs/selinux/enforce',
  uidMap: '/proc/self/uid_map',
  unifiedControllers: '/sys/fs/cgroup/cgroup.controllers',
  oldControllers: '/sys/fs/cgroup/memory',
};
const mokutilArgv = ['mokutil', '--sb-state'] as const;

/** Where it is told that Secure Boot is on. */
export const secureBootSources = {
  firmware: `file:${paths.secureBoot}`,
  mokutil: `command:${mokutilArgv.join(' ')}`,
} as const;

export const securityFiles = Object.values(paths);
export const securityCommands = [{ argv: mokutilArgv, required: false }] as const;

type Security = Pick<
  OsFact,
  'secureBoot' | 'secureBootFrom' | 'lockdown' | 'selinux' | 'inUserNamespace' | 'cgroupVersion'
>;

/** What decides which modules load and who may open a device. What could not be read goes into `partial`. */
export async function readSecurity(host: HostReader, partial: Gap[]): Promise<Security> {
  const optional = async <T>(
    field: keyof Security,
    path: string,
    parse: (text: string) => T | null,
    absent: T | null,
  ) => {
    const read = await host.readText(path);
    if (!read.ok && read.because === 'absent') return absent;
    const value = read.ok ? parse(read.value) : null;
    if (value === null) partial.push({ path: field, because: read.ok ? 'unexpected_text' : read.because });
    return value;
  };
  return {
    ...(await readSecureBoot(host, partial)),
    lockdown: await optional('lockdown', paths.lockdown, parseLockdown, null),
    selinux: await optional<OsFact['selinux']>('selinux', paths.selinux, parseSelinux, 'disabled'),
    inUserNamespace: await optional('inUserNamespace', paths.uidMap, parseUidMap, null),
    cgroupVersion: await readCgroupVersion(host),
  };
}

async function readSecureBoot(
  host: HostReader,
  partial: Gap[],
): Promise<Pick<OsFact, 'secureBoot' | 'secureBootFrom'>> {
  const flag = async (path: string) => {
    const read = await host.readText(path);
    return read.ok ? parseEfiFlag(read.value) : null;
  };
  const switchedOn = await flag(paths.secureBoot);
  if (switchedOn !== null) {
    const isOn = switchedOn && (await flag(paths.setupMode)) !== true && (await flag(paths.shim)) !== true;
    return { secureBoot: isOn, secureBootFrom: 'firmware' };
  }
  const firmware = await host.stat(efi);
  if (!firmware.ok && firmware.because === 'absent') return { secureBoot: false, secureBootFrom: null };
  const said = await runCommand(host, mokutilArgv);
  const state = said.ok ? parseMokutil(`${said.text}\n${said.ran.stderr}`) : null;
  if (state === null) partial.push({ path: 'secureBoot', because: said.ok ? 'unexpected_text' : said.because });
  return { secureBoot: state, secureBootFrom: state === null ? null : 'mokutil' };
}

async function readCgroupVersion(host: HostReader): Promise<OsFact['cgroupVersion']> {
  if ((await host.stat(paths.unifiedControllers)).ok) return 2;
  return (await host.stat(paths.oldControllers)).ok ? 1 : null;
}
