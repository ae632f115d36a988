import type { HostReader } from '../../host/index.ts';

export const busyFiles = ['/proc/locks', '/proc/*/comm'];

/** As the kernel shortens them to 15 letters. */
const managers =
  /^(apt|apt-get|aptitude|dpkg|unattended-upgr|packagekitd|synaptic|dnf|dnf5|dnf-automatic|yum|rpm|zypper|nala)$/;
const maxHolders = 200;

/**
 * Package managers lock their database while they work: whether one of them holds a write lock. That it merely runs says
 * nothing: the service of unattended-upgrades always does.
 */
export async function readBusy(host: HostReader): Promise<boolean | null> {
  const locks = await host.readText('/proc/locks', { maxBytes: 1_000_000 });
  if (!locks.ok) return null;
  for (const pid of writeLockHolders(locks.value).slice(0, maxHolders)) {
    const comm = await host.readText(`/proc/${pid}/comm`, { maxBytes: 1_000 });
    if (comm.ok && managers.test(comm.value.trim())) return true;
  }
  return false;
}

/** Lines like `1: POSIX  ADVISORY  WRITE 812 08:02:1311 0 EOF`; a waiter's has `->`, one of another namespace no pid. */
export function writeLockHolders(text: string): string[] {
  const pids = text
    .split('\n')
    .flatMap((line) => /^\d+: (?:POSIX|FLOCK|OFDLCK)\s+\S+\s+WRITE (\d+) /.exec(line)?.[1] ?? []);
  return [...new Set(pids)].filter((pid) => pid !== '0');
}
