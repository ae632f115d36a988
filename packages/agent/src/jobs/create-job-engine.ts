import { FleetError } from '@gpufleet/shared/core';
import {
  disruptionOfPlan,
  type JobRequest,
  type JournalEntry,
  parseRequest,
  phaseOf,
  planHashOf,
  stepTitle,
} from '@gpufleet/shared/jobs';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import { forgetSuperseded, verifyAfterBoot } from './after-boot.ts';
import { createAttemptStore } from './attempt-store.ts';
import type { AttemptSummary, Begun, EngineDeps, JobEngine, Precheck } from './engine.ts';
import { type NewEntry, type OpenJournal, openJournal, stampOf } from './open-attempt.ts';
import { createPauses } from './pauses.ts';
import { planNow } from './plan-now.ts';
import { createQuarantineStore, type Quarantine, whyQuarantined } from './quarantine.ts';
import { type Runner, runAttempt } from './run-attempt.ts';

type Granted = Omit<Extract<JournalEntry, { type: 'granted' }>, 'type' | 'at'>;

/** When the journal cannot be written, the attempt waits: without it nothing may be done to the host. */
const journalRetryMs = 10_000;

export function createJobEngine(deps: EngineDeps): JobEngine {
  const store = createAttemptStore(deps.state);
  const quarantines = createQuarantineStore(deps.state);
  const pauses = createPauses(deps.clock);
  const runner: Runner = { ...deps, store, quarantines, isStopping: pauses.areOver, pause: pauses.pause };
  const known = new Set<string>();
  /** Open attempts in the order in which they run; the first one runs now. */
  const open: OpenJournal[] = [];
  let running: Promise<void> = Promise.resolve();
  let quarantined: Quarantine | null = null;
  let beginning: Promise<unknown> = Promise.resolve();
  const settledWaiters = new Map<string, (result: AttemptResult) => void>();

  /** Begins one after another: two grants at once must not both find the host free. */
  function inTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = beginning.then(act);
    beginning = turn.catch(() => undefined);
    return turn;
  }

  async function start(granted: Granted): Promise<Begun> {
    if (known.has(granted.attemptId)) return tellAgain(granted.attemptId);
    const current = open[0];
    if (current) return { ok: false, because: 'busy', detail: `attempt ${current.attemptId} is running` };
    if (quarantined) return { ok: false, because: 'quarantined', detail: whyQuarantined(quarantined) };
    const entry: JournalEntry = { type: 'granted', at: await stampOf(deps.host), ...granted };
    await store.append(granted.attemptId, entry);
    await store.recordOrder(granted.attemptId);
    const stored = await store.load(granted.attemptId);
    if (!stored) throw new FleetError('state_unwritable', 'the journal does not hold what was written to it', granted);
    known.add(granted.attemptId);
    carryOn(openJournal({ host: deps.host, store }, granted.attemptId, stored));
    return { ok: true, begun: 'now' };
  }

  /** The server may have lost a result (an older backup): it is owed the same one again, and whoever asked sends it. */
  async function tellAgain(attemptId: string): Promise<Begun> {
    const stored = await store.find(attemptId);
    if (stored === 'damaged')
      return { ok: false, because: 'pruned', detail: `attempt ${attemptId} ran here, and its record is damaged` };
    if (!stored) return { ok: false, because: 'pruned', detail: `attempt ${attemptId} ran here long ago` };
    const { settled, granted } = stored.state;
    if (settled && granted.origin === 'server') await store.putOutbox(settled.result);
    return { ok: true, begun: 'already' };
  }

  function carryOn(journal: OpenJournal): void {
    open.push(journal);
    running = running.then(() => runUntilSettled(journal));
  }

  async function runUntilSettled(journal: OpenJournal): Promise<void> {
    while (!pauses.areOver()) {
      try {
        const result = await runAttempt(runner, journal);
        if (result === 'stopped') return;
        await afterSettling(journal, result);
        return;
      } catch (error) {
        deps.log.error({ attemptId: journal.attemptId, error }, 'attempt waits: its journal cannot be kept');
        await pauses.pause(journalRetryMs);
        if (!pauses.areOver())
          await journal.reload().catch((cause: unknown) => deps.log.error({ cause }, 'journal unreadable'));
      }
    }
  }

  async function afterSettling(journal: OpenJournal, result: AttemptResult): Promise<void> {
    quarantined = await quarantines.read();
    const at = open.indexOf(journal);
    if (at >= 0) open.splice(at, 1);
    if (journal.state().granted.origin === 'server') deps.onResult?.(result);
    settledWaiters.get(result.attemptId)?.(result);
    settledWaiters.delete(result.attemptId);
    // The attempt is over whatever becomes of this; a disk that is full now is asked again after the next one.
    await tidy(result).catch((error: unknown) =>
      deps.log.error({ error }, 'records of old attempts could not be tidied'),
    );
  }

  async function tidy(result: AttemptResult): Promise<void> {
    await forgetSuperseded(runner, result);
    await store.prune();
  }

  /** What a damaged attempt left of the host nobody knows: a person looks, once. */
  async function closeFor(attemptId: string): Promise<void> {
    deps.log.error({ attemptId }, 'the journal of an attempt is damaged');
    const released = await quarantines.releases();
    if (quarantined !== null || released.some(({ quarantine }) => quarantine.attemptId === attemptId)) return;
    const { nowMs } = await deps.host.moment();
    const because = [{ because: 'state_damaged', detail: `the journal of attempt ${attemptId} is damaged` }];
    quarantined = { attemptId, because, sinceMs: nowMs };
    await quarantines.begin(quarantined);
  }

  /** A run that nobody granted: resolves with its result. */
  async function runHere(request: JobRequest, undoOf: string | null, planHash: string | null): Promise<AttemptResult> {
    const parsed = parseRequest(request.kind, request.params);
    if (!parsed.ok) throw new FleetError(parsed.because, parsed.detail, { kind: request.kind });
    const stamp = await stampOf(deps.host);
    const attemptId = `local-${deps.sha256(`${stamp.bootId} ${stamp.uptimeMs} ${stamp.nowMs} ${known.size}`).slice(0, 16)}`;
    const settled = new Promise<AttemptResult>((resolve) => settledWaiters.set(attemptId, resolve));
    const begun = await inTurn(() =>
      start({
        attemptId,
        jobId: attemptId,
        origin: 'local',
        undoOf,
        request,
        planHash,
        serverEpoch: 0,
        deadlineMs: parsed.job.worstCaseMs,
      }),
    );
    if (begun.ok) return settled;
    settledWaiters.delete(attemptId);
    throw new FleetError(begun.because, begun.detail, { kind: request.kind });
  }

  async function precheck({ attemptId, request, planHash }: Parameters<JobEngine['precheck']>[0]): Promise<Precheck> {
    const no = (because: string, detail: string): Precheck => ({ ok: false, because: [{ because, detail }] });
    if (quarantined) return no('quarantined', whyQuarantined(quarantined));
    const other = open.find((journal) => journal.attemptId !== attemptId);
    if (other) return no('busy', `attempt ${other.attemptId} is running`);
    const parsed = parseRequest(request.kind, request.params);
    if (!parsed.ok) return no(parsed.because, parsed.detail);
    const { plan } = await planNow(deps, request);
    if (plan.outcome === 'blocked') return { ok: false, because: plan.because };
    const { worstCaseMs } = parsed.job;
    if (plan.outcome === 'noop') {
      const summary = plan.because.map(({ detail }) => detail);
      // Binds the grant to "nothing to do": a host that changes before it begins does not run a plan nobody approved.
      const nothing = planHashOf({ kind: parsed.kind, params: parsed.params, steps: [] }, deps.sha256);
      return { ok: true, plan: { outcome: 'noop', planHash: nothing, disruption: 'none', worstCaseMs, summary } };
    }
    const hash = planHashOf({ kind: parsed.kind, params: parsed.params, steps: plan.steps }, deps.sha256);
    if (planHash !== null && planHash !== hash)
      return no('plan_changed', 'the host is not as it was when the plan was approved');
    const holders = plan.holders.map(
      (holder) => `hits ${holder.type} ${holder.name}${holder.pid === null ? '' : ` (${holder.pid})`}`,
    );
    const summary = [...plan.steps.map(stepTitle), ...holders];
    return {
      ok: true,
      plan: { outcome: 'plan', planHash: hash, disruption: disruptionOfPlan(plan.steps), worstCaseMs, summary },
    };
  }

  return {
    precheck,
    begin(grant) {
      const { attemptId, jobId, request, planHash, serverEpoch, deadlineMs } = grant;
      return inTurn(() =>
        start({ attemptId, jobId, origin: 'server', undoOf: null, request, planHash, serverEpoch, deadlineMs }),
      );
    },
    async cancel(attemptId, because) {
      const asked: NewEntry = { type: 'cancel_asked', because };
      await open
        .find((journal) => journal.attemptId === attemptId)
        ?.append(asked, (state) => state.settled === null && state.cancel === null);
    },
    async recover() {
      quarantined = await quarantines.read();
      const order = await store.order();
      for (const attemptId of order) known.add(attemptId);
      const unordered = (await store.listJournals()).filter((attemptId) => !known.has(attemptId));
      const present = new Set(await store.listJournals());
      for (const attemptId of [...order, ...unordered]) {
        const stored = present.has(attemptId) ? await store.find(attemptId) : undefined;
        if (!stored) continue;
        if (!known.has(attemptId)) await store.recordOrder(attemptId);
        known.add(attemptId);
        if (stored === 'damaged') await closeFor(attemptId);
        else if (!stored.state.settled) carryOn(openJournal({ host: deps.host, store }, attemptId, stored));
      }
      running = running
        .then(() => verifyAfterBoot(runner))
        .catch((error: unknown) => deps.log.error({ error }, 'what was to last the boot could not be verified'));
    },
    openAttempts: () =>
      open
        .map((journal) => journal.state())
        .filter(({ granted }) => granted.origin === 'server')
        .map((state) => {
          const { attemptId, jobId, serverEpoch } = state.granted;
          return { attemptId, jobId, phase: phaseOf(state), serverEpoch };
        }),
    owedResults: () => store.listOutbox(),
    acknowledge: (attemptId) => store.removeOutbox(attemptId),
    current() {
      const journal = open[0];
      return journal ? { attemptId: journal.attemptId, phase: phaseOf(journal.state()) } : null;
    },
    runLocal: (request, planHash = null) => runHere(request, null, planHash),
    async undo(attemptId) {
      const original = await store.load(attemptId);
      if (!original)
        throw new FleetError('attempt_not_found', `there is no attempt ${attemptId} on this host`, { attemptId });
      return runHere(original.state.granted.request, attemptId, null);
    },
    async history() {
      const present = new Set(await store.listJournals());
      const summaries: AttemptSummary[] = [];
      for (const attemptId of await store.order()) {
        const stored = present.has(attemptId) ? await store.find(attemptId) : undefined;
        if (!stored || stored === 'damaged') continue;
        const { granted, planned, settled, afterBoot } = stored.state;
        const { jobId, origin, undoOf, request } = granted;
        const disruption = disruptionOfPlan(planned?.steps ?? []);
        summaries.push({
          attemptId,
          jobId,
          origin,
          undoOf,
          request,
          disruption,
          result: settled?.result ?? null,
          afterBoot: afterBoot && { ok: afterBoot.ok, because: afterBoot.because },
        });
      }
      return summaries;
    },
    quarantine: () => quarantined,
    release: (reason) =>
      inTurn(async () => {
        const quarantine = await quarantines.read();
        if (quarantine === null) return null;
        const { nowMs } = await deps.host.moment();
        await quarantines.end({ quarantine, reason, releasedAtMs: nowMs });
        quarantined = null;
        deps.log.warn({ attemptId: quarantine.attemptId, reason }, 'quarantine released');
        return quarantine;
      }),
    releases: () => quarantines.releases(),
    idle: () => running,
    async stop() {
      pauses.end();
      await Promise.race([running, pauses.grace(5_000)]);
    },
  };
}
