import type { Read, UrlAnswer } from '@gpufleet/shared/host';
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
