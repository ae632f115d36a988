import { verify } from 'node:crypto';
import { type EnrollRequest, enrollmentBytes } from '@gpufleet/shared/protocol';
import { toPublicKey } from '../../gateway/public-key.ts';

/** The caller holds the private key of the public key that it brings. */
export function provesPossession(request: EnrollRequest): boolean {
  const { signature, ...signed } = request;
  const key = toPublicKey(request.publicKey);
  return (
    key !== undefined && verify(null, Buffer.from(enrollmentBytes(signed)), key, Buffer.from(signature, 'base64url'))
  );
}
