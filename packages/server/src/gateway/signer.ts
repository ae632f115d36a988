import type { Grant, SignedGrant } from '@gpufleet/shared/protocol';

/** The control plane's signing key. It signs grants only. */
export interface Signer {
  readonly keyId: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  sign(grant: Grant): SignedGrant;
}
