import { z } from 'zod';
import { toCanonicalJson } from '../core/index.ts';

/**
 * Body of `POST /api/v1/enroll`, with the enrolment token as bearer. `publicKey` is a raw Ed25519 public key (32 bytes,
 * base64url); `signature` proves possession: Ed25519 over `enrollmentBytes`.
 */
export const EnrollRequest = z.strictObject({
  publicKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'a raw Ed25519 public key is 43 base64url characters'),
  name: z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/, 'a host name is 1–63 letters, digits, . -'),
  machineFingerprint: z.string().min(1).max(128),
  agentVersion: z.string().min(1).max(64),
  labels: z.record(z.string(), z.string()).default({}),
  signature: z.string().min(1).max(128),
});
export type EnrollRequest = z.infer<typeof EnrollRequest>;

export const EnrollResponse = z.object({
  hostId: z.string(),
  siteId: z.string(),
  status: z.enum(['accepted', 'pending']),
  /** Keys that sign grants: the agent pins these. */
  signingKeys: z.array(z.object({ keyId: z.string(), publicKey: z.string() })),
  agentPath: z.string(),
});
export type EnrollResponse = z.infer<typeof EnrollResponse>;

/** The bytes (UTF-8 text) that the enrolling agent signs. */
export function enrollmentBytes(request: Omit<EnrollRequest, 'signature'>): string {
  return `gpufleet-enroll-v1\n${toCanonicalJson(request)}`;
}

/** The bytes (UTF-8 text) that an agent signs for a session's challenge. */
export function challengeBytes(hostId: string, nonce: string): string {
  return `gpufleet-session-v1\n${hostId}\n${nonce}`;
}
