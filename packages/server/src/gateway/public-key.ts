import { createPublicKey, type KeyObject } from 'node:crypto';

/** A raw Ed25519 public key (base64url) as a key object. By JWK: the DER decoder takes fifteen times as long. */
export function toPublicKey(raw: string): KeyObject | undefined {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' });
  } catch (error) {
    // Node says only that it is no key: a wrong length or no base64url.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
