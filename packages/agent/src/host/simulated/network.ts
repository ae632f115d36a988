import type { Read, UrlAnswer } from '@gpufleet/shared/host';
import { keyring } from './classes/packages.ts';
import type { Machine } from './machine.ts';

/** A site with a way to the internet, where every server knows the time; or one without. Nothing listens on the machine. */
export function askNetwork(machine: Machine, url: string): Read<UrlAnswer> {
  const target = URL.canParse(url) ? new URL(url) : null;
  if (target === null || !/^https?:$/.test(target.protocol)) return refused('not an http or https address');
  if (target.hostname === '127.0.0.1') return refused(`ECONNREFUSED: connect ECONNREFUSED ${target.host}`);
  if (machine.network === 'down') return refused(`ENOTFOUND: getaddrinfo ENOTFOUND ${target.hostname}`);
  const dateMs = Math.floor(machine.clock.nowMs() / 1000) * 1000;
  return { ok: true, value: { status: 200, dateMs, tlsError: null } };
}

function refused(detail: string): Read<never> {
  return { ok: false, because: 'io_error', detail };
}

const armourLine = 64;

/** NVIDIA's server has a key for the toolkit: this fleet's own, in text form. */
export function fetchFromNetwork(machine: Machine, url: string, maxBytes: number): Read<string> {
  const answer = askNetwork(machine, url);
  if (!answer.ok) return answer;
  if (!/^https:\/\/nvidia\.github\.io\/libnvidia-container\/gpgkey$/.test(url))
    return refused('the server answers with 404');
  const text = armoured(keyring(machine, 'toolkit'));
  return text.length > maxBytes
    ? { ok: false, because: 'too_large', detail: `larger than ${maxBytes} bytes` }
    : { ok: true, value: text };
}

export function armoured(bytes: string): string {
  const base64 = Buffer.from(bytes, 'latin1').toString('base64');
  const lines = base64.match(new RegExp(`.{1,${armourLine}}`, 'g')) ?? [];
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${lines.join('\n')}\n-----END PGP PUBLIC KEY BLOCK-----\n`;
}
