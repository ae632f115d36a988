import { JobRequest } from '@gpufleet/shared/jobs';
import { AttemptResult } from '@gpufleet/shared/protocol';
import { z } from 'zod';
import { Quarantine } from '../../jobs/quarantine.ts';
import { AgentStatus } from '../../status.ts';

/** What a command may ask of the agent that runs on the same state folder: one JSON line. */
export const ControlRequest = z.discriminatedUnion('do', [
  z.object({ do: z.literal('status') }),
  z.object({ do: z.literal('run'), request: JobRequest, planHash: z.string().nullable() }),
  z.object({ do: z.literal('undo'), attemptId: z.string() }),
  z.object({ do: z.literal('release'), reason: z.string().min(1).max(1_000) }),
]);
export type ControlRequest = z.infer<typeof ControlRequest>;

/** The one JSON line that answers it. */
export const ControlAnswer = z.discriminatedUnion('type', [
  z.object({ type: z.literal('status'), status: AgentStatus }),
  z.object({ type: z.literal('result'), result: AttemptResult }),
  /** null: there was no quarantine. */
  z.object({ type: z.literal('released'), quarantine: Quarantine.nullable() }),
  z.object({ type: z.literal('refused'), code: z.string(), detail: z.string() }),
]);
export type ControlAnswer = z.infer<typeof ControlAnswer>;

export const maxControlBytes = 4 * 1024 * 1024;
