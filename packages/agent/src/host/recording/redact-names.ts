import type { Stand } from './stand-ins.ts';

/** Accounts that images and distributions make: their names are words of other things too. */
const COMMON_NAME =
  /^(?:.{1,2}|root|admin|user|users|ubuntu|debian|centos|rocky|fedora|core|ec2-user|vagrant|nvidia|jetson|docker|dockerd|containerd|kubelet|kubernetes|k3s|rke2|python\d?|node|java|data|model|test|build|runner)$/i;

/** People whose homes or groups were met, in the names and arguments of processes. */
export function redactUsers(text: string, stand: Stand): string {
  let shown = text;
  for (const [user, standIn] of stand.met('user')) {
    if (COMMON_NAME.test(user) || !shown.includes(user)) continue;
    const name = new RegExp(`(?<![A-Za-z0-9])${user.replace(/[^\w]/g, '\\$&')}(?![A-Za-z0-9])`, 'g');
    shown = shown.replace(name, standIn);
  }
  return shown;
}

const EMAIL_BYTES = /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w.-])/gi;

/** Keyrings name their owners. Packets state their lengths, so every letter has one that stands for it. */
export function redactBytes(content: string): string {
  return content.replace(EMAIL_BYTES, (address) => address.replace(/[^@.]/g, 'x'));
}
