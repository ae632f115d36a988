import { z } from 'zod';
import { JobRequest } from '../jobs/job-request.ts';

/** What the control plane signs: permission for one host to carry out one attempt, once, until it expires. */
export const Grant = z.object({
  version: z.literal(1),
  hostId: z.string(),
  attemptId: z.string(),
  jobId: z.string(),
  request: JobRequest,
  /** Hash that the agent's fresh plan must have; null: any plan of the request. */
  planHash: z.string().nullable(),
  serverEpoch: z.int(),
  sessionEpoch: z.int(),
  notBeforeMs: z.number(),
  expiresAtMs: z.number(),
  /** The attempt's deadline counted on the agent's monotonic clock from the moment it receives the grant. */
  deadlineMs: z.int(),
  nonce: z.string(),
});
export type Grant = z.infer<typeof Grant>;

/**
 * A signed grant. `payload` is the grant's canonical JSON as base64url: the signature (Ed25519, base64url) is over the
 * bytes `gpufleet-grant-v1\n` + payload, so that no other message of ours can be passed off as a grant.
 */
export const SignedGrant = z.object({ keyId: z.string(), payload: z.string(), signature: z.string() });
export type SignedGrant = z.infer<typeof SignedGrant>;

export const grantSigningPrefix = 'gpufleet-grant-v1\n';
