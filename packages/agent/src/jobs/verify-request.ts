import { toCanonicalJson } from '@gpufleet/shared/core';
import {
  type JobRequest,
  needsOfRequest,
  type PlanReason,
  parseRequest,
  type Verdict,
  verifyJob,
} from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import type { Runner } from './run-attempt.ts';

const verifyEveryMs = 2_000;
/** How long the host's own no must stay the same until it is taken for its last word. */
const answeredNoForMs = 10_000;

/**
 * Asks the live host until it is as the job wants it, says no for good, or the kind's time is over. `before` are the
 * facts by probe key that the plan was made on, as the journal keeps them.
 */
export async function verifyRequest(
  runner: Pick<Runner, 'clock' | 'collectFacts' | 'host' | 'sha256' | 'pause' | 'isStopping'>,
  request: JobRequest,
  before: Readonly<Record<string, unknown>>,
  graceMs = 0,
): Promise<{ ok: boolean; because: PlanReason[] } | 'stopped'> {
  const { clock, collectFacts, host, sha256 } = runner;
  const parsed = parseRequest(request.kind, request.params);
  const untilMs = clock.monotonicMs() + graceMs + (parsed.ok ? parsed.job.verifyWithinMs : 0);
  let no: { said: string; sinceMs: number } | undefined;
  for (;;) {
    const facts = await collectFacts({ host, sha256, only: [...needsOfRequest(request)] });
    // Written by this engine from facts of the same shape.
    const verdict = verifyJob(request, facts, before as Partial<Facts>);
    const nowMs = clock.monotonicMs();
    no = answeredNo(verdict, no, nowMs);
    const isLastWord = no !== undefined && nowMs - no.sinceMs >= answeredNoForMs + graceMs;
    if (verdict.ok || isLastWord || nowMs >= untilMs) return { ok: verdict.ok, because: verdict.because };
    await runner.pause(verifyEveryMs);
    if (runner.isStopping()) return 'stopped';
  }
}

/** Since when the host has been giving this same no; undefined while it does not answer, or says yes. */
function answeredNo(
  verdict: Verdict,
  earlier: { said: string; sinceMs: number } | undefined,
  nowMs: number,
): { said: string; sinceMs: number } | undefined {
  if (verdict.ok || !verdict.answered) return undefined;
  const said = toCanonicalJson(verdict.because);
  return earlier?.said === said ? earlier : { said, sinceMs: nowMs };
}
