import { createHash, timingSafeEqual } from 'node:crypto';

/** How secrets are stored: random tokens of 256 bits need no salt and no slow hash. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function isSameHash(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** The token of `Authorization: Bearer …`, if it looks like one. */
export function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer ([A-Za-z0-9_-]{16,200})$/i.exec(header ?? '')?.[1];
}
