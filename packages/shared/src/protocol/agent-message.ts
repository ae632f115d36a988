import { z } from 'zod';
import type { Json } from '../core/index.ts';
import { Diagnosis } from '../diagnosis/finding.ts';
import { Disruption, PlanReason } from '../jobs/step.ts';
import { AttemptPhase, AttemptResult, OpenAttempt } from './attempt-report.ts';

/** How an agent proves who it is: a ticket from an earlier welcome, or the challenge signed with the host's key. */
export const Proof = z.discriminatedUnion('by', [
  z.object({ by: z.literal('key'), signature: z.string() }),
  z.object({ by: z.literal('ticket'), ticket: z.string() }),
]);
export type Proof = z.infer<typeof Proof>;

export const Hello = z.object({
  type: z.literal('hello'),
  protocolVersion: z.int(),
  hostId: z.string(),
  proof: Proof,
  agentVersion: z.string(),
  bootId: z.string(),
  uptimeMs: z.number(),
  hostNowMs: z.number(),
  /** Random for each agent process: two at once with one key are a clone. */
  instanceId: z.string(),
  /** Hash of what does not change on one machine (DMI, machine-id): a copied disk shows here. */
  machineFingerprint: z.string(),
  /** Job kinds that this agent can carry out. */
  capabilities: z.array(z.string()),
  /** Hash of each section that the agent would report now, by section name. */
  sectionHashes: z.record(z.string(), z.string()),
  openAttempts: z.array(OpenAttempt),
  /** Results in the outbox that the server has not acknowledged. */
  owedResults: z.int(),
  /** Highest server epoch that this agent has ever seen. */
  serverEpochSeen: z.int(),
});
export type Hello = z.infer<typeof Hello>;

export const Heartbeat = z.object({
  type: z.literal('heartbeat'),
  seq: z.int(),
  uptimeMs: z.number(),
  /** Attempt that runs now, and where it is. */
  attempt: z.object({ attemptId: z.string(), phase: AttemptPhase }).nullable(),
  /** `sectionsDigestOf` what the agent has reported; absent while it still has something to send. */
  sectionsDigest: z.string().max(2_000).optional(),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** What came out of JSON.parse is Json: walking a long body again to see it costs more than parsing it did. */
const AnyJson = z.unknown().refine((value) => value !== undefined, 'is missing') as unknown as z.ZodType<Json>;

/** One section of the report: a fact (by probe key) or `diagnosis`. Sent only when its hash changed. */
export const Section = z.object({ type: z.literal('section'), name: z.string(), hash: z.string(), body: AnyJson });
export type Section = z.infer<typeof Section>;

export const Claim = z.object({
  type: z.literal('claim'),
  attemptId: z.string(),
  sessionEpoch: z.int(),
  plan: z.object({
    outcome: z.enum(['plan', 'noop']),
    planHash: z.string().nullable(),
    disruption: Disruption,
    worstCaseMs: z.int(),
    /** One line for each step and each holder that will be hit. */
    summary: z.array(z.string()),
  }),
});
export type Claim = z.infer<typeof Claim>;

/** The offer cannot be taken now: nothing was done. */
export const Decline = z.object({
  type: z.literal('decline'),
  attemptId: z.string(),
  because: z.array(PlanReason).min(1),
});
export type Decline = z.infer<typeof Decline>;

export const Progress = z.object({
  type: z.literal('progress'),
  attemptId: z.string(),
  phase: AttemptPhase,
  step: z.int().nullable(),
  steps: z.int(),
  text: z.string(),
});
export type Progress = z.infer<typeof Progress>;

export const Result = z.object({ type: z.literal('result'), result: AttemptResult });
export type Result = z.infer<typeof Result>;

export const agentMessages = {
  hello: Hello,
  heartbeat: Heartbeat,
  section: Section,
  claim: Claim,
  decline: Decline,
  progress: Progress,
  result: Result,
} as const;
export const AgentMessage = z.discriminatedUnion('type', [Hello, Heartbeat, Section, Claim, Decline, Progress, Result]);
export type AgentMessage = z.infer<typeof AgentMessage>;
/** The body that a `diagnosis` section carries. */
export const DiagnosisSection = Diagnosis;
