import { z } from 'zod';
import { JobRequest } from '../jobs/job-request.ts';
import { SignedGrant } from './grant.ts';

/** First message of the server: what the agent signs to prove possession of its key. */
export const Challenge = z.object({ type: z.literal('challenge'), nonce: z.string(), serverNowMs: z.number() });
export type Challenge = z.infer<typeof Challenge>;

export const Welcome = z.object({
  type: z.literal('welcome'),
  protocolVersion: z.int(),
  serverNowMs: z.number(),
  serverEpoch: z.int(),
  sessionEpoch: z.int(),
  heartbeatEveryMs: z.int(),
  /** Resumes a session without a signature until it expires; void on revocation. */
  ticket: z.string(),
  /** Sections whose stored hash differs from the hello's: send these, in this order, when asked by `want`. */
  staleSections: z.array(z.string()),
  /** Keys that sign grants now: the agent keeps the pinned ones and learns new ones only through a signed rotation. */
  signingKeyIds: z.array(z.string()),
});
export type Welcome = z.infer<typeof Welcome>;

/** The server's turn to receive: send these sections now. */
export const Want = z.object({ type: z.literal('want'), sections: z.array(z.string()) });
export type Want = z.infer<typeof Want>;

/** May the agent do this? It plans afresh and answers `claim` or `decline`. Nothing is done on an offer. */
export const Offer = z.object({
  type: z.literal('offer'),
  attemptId: z.string(),
  jobId: z.string(),
  request: JobRequest,
  planHash: z.string().nullable(),
});
export type Offer = z.infer<typeof Offer>;

export const GrantMessage = z.object({ type: z.literal('grant'), attemptId: z.string(), signed: SignedGrant });
export type GrantMessage = z.infer<typeof GrantMessage>;

export const Refusal = z.object({
  type: z.literal('refusal'),
  attemptId: z.string(),
  because: z.string(),
  detail: z.string(),
});
export type Refusal = z.infer<typeof Refusal>;

/** Stop this attempt at its next safe point. */
export const Cancel = z.object({ type: z.literal('cancel'), attemptId: z.string(), because: z.string() });
export type Cancel = z.infer<typeof Cancel>;

/** The result is committed: the agent may drop it from its outbox. */
export const ResultAck = z.object({ type: z.literal('result_ack'), attemptId: z.string() });
export type ResultAck = z.infer<typeof ResultAck>;

export const SectionAck = z.object({ type: z.literal('section_ack'), name: z.string(), hash: z.string() });
export type SectionAck = z.infer<typeof SectionAck>;

export const HeartbeatAck = z.object({ type: z.literal('heartbeat_ack'), seq: z.int() });
export type HeartbeatAck = z.infer<typeof HeartbeatAck>;

/** The server goes away: come back after this long, plus jitter. */
export const Drain = z.object({ type: z.literal('drain'), retryAfterMs: z.int() });
export type Drain = z.infer<typeof Drain>;

/** The session is refused. `retryAfterMs` null: do not come back with the same proof; keep all state. */
export const Rejection = z.object({
  type: z.literal('rejection'),
  code: z.enum([
    'unknown_host',
    'bad_proof',
    'revoked',
    'pending_approval',
    'protocol_unsupported',
    'bad_message',
    'too_slow',
    'duplicate_identity',
  ]),
  detail: z.string(),
  retryAfterMs: z.int().nullable(),
});
export type Rejection = z.infer<typeof Rejection>;

export const ServerMessage = z.discriminatedUnion('type', [
  Challenge,
  Welcome,
  Want,
  Offer,
  GrantMessage,
  Refusal,
  Cancel,
  ResultAck,
  SectionAck,
  HeartbeatAck,
  Drain,
  Rejection,
]);
export type ServerMessage = z.infer<typeof ServerMessage>;
