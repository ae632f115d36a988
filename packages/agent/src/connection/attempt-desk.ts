import type { Clock } from '@gpufleet/shared/core';
import type { JobRequest } from '@gpufleet/shared/jobs';
import type { AgentMessage, AttemptResult, Cancel, Grant, GrantMessage, Offer } from '@gpufleet/shared/protocol';
import type { Identity } from '../identity/identity.ts';
import type { SeenGrants } from '../identity/seen-grants.ts';
import { verifyGrant } from '../identity/verify-grant.ts';
import type { JobEngine, Log } from '../jobs/engine.ts';

export interface AttemptDeskDeps {
  engine: JobEngine;
  seen: SeenGrants;
  clock: Clock;
  log: Log;
  resendEveryMs: number;
  send(message: AgentMessage): boolean;
  serverNowMs(): number | undefined;
}

export interface DeskSession {
  identity: Identity;
  sessionEpoch: number;
  serverEpoch: number;
}

/** Between the wire and the engine: offers, grants, cancels and the results that are owed. */
export interface AttemptDesk {
  begin(session: DeskSession): void;
  end(): void;
  offer(offer: Offer): Promise<void>;
  grant(message: GrantMessage): Promise<void>;
  cancel(cancel: Cancel): Promise<void>;
  acknowledged(attemptId: string): Promise<void>;
  sendResult(result: AttemptResult): void;
  stop(): void;
}

interface Claimed {
  jobId: string;
  request: JobRequest;
  planHash: string | null;
}

export function createAttemptDesk(deps: AttemptDeskDeps): AttemptDesk {
  const { engine, log } = deps;
  let session: DeskSession | undefined;
  let claimed = new Map<string, Claimed>();
  const cancelResend = deps.clock.every(deps.resendEveryMs, sendOwed);

  async function sendOwed(): Promise<void> {
    if (session === undefined) return;
    for (const result of await engine.owedResults()) {
      if (!deps.send({ type: 'result', result })) return;
    }
  }

  /** Of an attempt that was taken before, the one answer is its result: a restored server learns it from us. */
  async function tellAgain(grant: Grant, journaled: ReadonlySet<string>): Promise<void> {
    // Beginning a known attempt has no effect but to owe its result again.
    if (journaled.has(grant.attemptId)) await engine.begin(grant);
    else decline(grant.attemptId, 'replayed', 'this attempt was taken before and its record is gone');
    await sendOwed();
  }

  function decline(attemptId: string, because: string, detail: string): void {
    deps.send({ type: 'decline', attemptId, because: [{ because, detail }] });
  }

  return {
    begin(opened) {
      session = opened;
      claimed = new Map();
      void sendOwed();
    },
    end() {
      session = undefined;
    },
    async offer({ attemptId, jobId, request, planHash }) {
      const asked = session;
      if (asked === undefined) return;
      const precheck = await engine.precheck({ attemptId, request, planHash });
      // An answer for a session that has ended meanwhile would claim in the name of a newer one.
      if (session !== asked) return;
      if (!precheck.ok) {
        log.info({ attemptId, jobId, because: precheck.because.map((reason) => reason.because) }, 'offer declined');
        deps.send({ type: 'decline', attemptId, because: precheck.because });
        return;
      }
      remember(claimed, attemptId, { jobId, request, planHash: precheck.plan.planHash });
      deps.send({ type: 'claim', attemptId, sessionEpoch: asked.sessionEpoch, plan: precheck.plan });
    },
    async grant({ attemptId, signed }) {
      if (session === undefined) return;
      const { identity, sessionEpoch, serverEpoch } = session;
      const journaled = new Set((await engine.history()).map((known) => known.attemptId));
      const verified = verifyGrant(signed, {
        hostId: identity.hostId,
        signingKeys: identity.signingKeys,
        serverNowMs: deps.serverNowMs(),
        serverEpoch,
        sessionEpoch,
        claimed: (id) => claimed.get(id),
        // The journal counts too: a crash may have come between it and the list of grants.
        isSeen: (grant) => deps.seen.has(grant) || journaled.has(grant.attemptId),
      });
      if (!verified.ok) {
        log.warn({ attemptId, because: verified.because, detail: verified.detail }, 'grant refused');
        if (verified.because === 'replayed') await tellAgain(verified.grant, journaled);
        else decline(attemptId, verified.because, verified.detail);
        return;
      }
      const { grant } = verified;
      // The engine journals the attempt first: a crash between the two leaves an attempt that it knows by its id.
      const begun = await engine.begin(grant);
      if (!begun.ok) {
        decline(grant.attemptId, begun.because, begun.detail);
        return;
      }
      await deps.seen.record(grant);
      if (begun.begun === 'already') await sendOwed();
    },
    async cancel({ attemptId, because }) {
      log.info({ attemptId, because }, 'attempt is to be cancelled');
      await engine.cancel(attemptId, because);
    },
    async acknowledged(attemptId) {
      await engine.acknowledge(attemptId);
    },
    sendResult(result) {
      deps.send({ type: 'result', result });
    },
    stop() {
      session = undefined;
      cancelResend();
    },
  };
}

/** A server that offers without end must not fill the memory: the oldest claims are forgotten. */
function remember(claimed: Map<string, Claimed>, attemptId: string, claim: Claimed): void {
  claimed.delete(attemptId);
  claimed.set(attemptId, claim);
  const oldest = claimed.keys().next();
  if (claimed.size > 64 && !oldest.done) claimed.delete(oldest.value);
}
