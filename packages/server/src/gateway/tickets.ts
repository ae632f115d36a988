import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** Resumes a session without a signature: a MAC over the host, its key, its enrolment and the moment of expiry. */
export interface Tickets {
  issue(host: TicketHolder, nowMs: number): string;
  /** Whom a text claims to belong to; nothing is checked yet. */
  holderOf(ticket: string): string | undefined;
  isValid(ticket: string, host: TicketHolder, nowMs: number): boolean;
  /** The valid ticket itself while half of its time is left, else a new one. */
  renew(ticket: string, host: TicketHolder, nowMs: number): string;
}

export interface TicketHolder {
  id: string;
  publicKey: string;
  /** A host that was decommissioned and enrolled again has another one: its tickets from before stay void. */
  enrolledAtMs: number;
}

/** `secret` is kept with the store, so that tickets outlive a restart: that is when everyone comes back at once. */
export function createTickets(secret: string, ttlMs: number): Tickets {
  const key = createSecretKey(secret, 'utf8');

  function macOf(host: TicketHolder, expiresAtMs: string): Buffer {
    return createHmac('sha256', key)
      .update(`gpufleet-ticket-v2\n${host.id}\n${host.publicKey}\n${host.enrolledAtMs}\n${expiresAtMs}`)
      .digest();
  }
  function issue(host: TicketHolder, nowMs: number): string {
    const expiresAtMs = String(nowMs + ttlMs);
    return `${host.id}.${expiresAtMs}.${macOf(host, expiresAtMs).toString('base64url')}`;
  }

  return {
    issue,
    renew: (ticket, host, nowMs) =>
      Number(partsOf(ticket)?.expiresAtMs ?? 0) - nowMs > ttlMs / 2 ? ticket : issue(host, nowMs),
    holderOf: (ticket) => partsOf(ticket)?.hostId,
    isValid(ticket, host, nowMs) {
      const parts = partsOf(ticket);
      if (!parts || parts.hostId !== host.id || Number(parts.expiresAtMs) <= nowMs) return false;
      const mac = Buffer.from(parts.mac, 'base64url');
      const expected = macOf(host, parts.expiresAtMs);
      return mac.length === expected.length && timingSafeEqual(mac, expected);
    },
  };
}

function partsOf(ticket: string): { hostId: string; expiresAtMs: string; mac: string } | undefined {
  const match = /^([A-Za-z0-9_-]{1,64})\.(\d{1,15})\.([A-Za-z0-9_-]{43})$/.exec(ticket);
  if (!match?.[1] || !match[2] || !match[3]) return undefined;
  return { hostId: match[1], expiresAtMs: match[2], mac: match[3] };
}
