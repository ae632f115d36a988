import {
  begunSteps,
  changesFile,
  elapsedMs,
  type Move,
  nextMove,
  type PlanReason,
  parseRequest,
  phaseOf,
  stepTitle,
  toResult,
  undoSteps,
} from '@gpufleet/shared/jobs';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import { applyStep, beforeStep, isIdempotent, probeStep, type StepContext, type StepOutcome } from '../steps/index.ts';
import { readConfig } from '../steps/read-config.ts';
import type { AttemptStore } from './attempt-store.ts';
import { confirmReach } from './confirm-reach.ts';
import type { EngineDeps } from './engine.ts';
import { type OpenJournal, stampOf } from './open-attempt.ts';
import { planAttempt } from './plan-attempt.ts';
import type { QuarantineStore } from './quarantine.ts';
import { takeSnapshots } from './take-snapshots.ts';
import { verifyRequest } from './verify-request.ts';

export interface Runner extends EngineDeps {
  store: AttemptStore;
  quarantines: QuarantineStore;
  isStopping(): boolean;
  /** Ends early when the engine stops. */
  pause(ms: number): Promise<void>;
}

type Granted = ReturnType<OpenJournal['state']>['granted'];
type MoveOf<D extends Move['do']> = Extract<Move, { do: D }>;

/**
 * Carries an attempt on from wherever its journal says it is, until it is settled or the engine stops. Throws only when
 * the journal cannot be written: then nothing more is done to the host.
 */
export async function runAttempt(runner: Runner, journal: OpenJournal): Promise<AttemptResult | 'stopped'> {
  for (;;) {
    const { settled } = journal.state();
    if (settled) return settled.result;
    if (runner.isStopping()) return 'stopped';
    const elapsed = elapsedMs(journal.entries(), await stampOf(runner.host));
    const move = nextMove(journal.state(), { elapsedMs: elapsed, onCancel: onCancelOf(journal) });
    await makeMove(runner, journal, move);
  }
}

function onCancelOf(journal: OpenJournal): 'finish' | 'roll_back' {
  const { kind, params } = journal.state().granted.request;
  const parsed = parseRequest(kind, params);
  return parsed.ok ? parsed.job.onCancel : 'roll_back';
}

function makeMove(runner: Runner, journal: OpenJournal, move: Move): Promise<void> {
  switch (move.do) {
    case 'plan':
      return plan(runner, journal);
    case 'snapshot':
      return snapshot(runner, journal);
    case 'run_step':
      return runStep(runner, journal, move);
    case 'probe_step':
      return probeBegunStep(runner, journal, move);
    case 'verify':
      return verify(runner, journal);
    case 'confirm':
      return confirm(runner, journal);
    case 'plan_undo': {
      const { forward, snapshots } = journal.state();
      tell(runner, journal, `goes back: ${move.because[0]?.detail ?? move.cause}`);
      const steps = undoSteps(begunSteps(forward), snapshots ?? []);
      return journal.append({ type: 'undo_planned', cause: move.cause, because: move.because, steps });
    }
    case 'settle':
      return settle(runner, journal, move);
    case 'nothing':
      return Promise.resolve();
  }
}

async function plan(runner: Runner, journal: OpenJournal): Promise<void> {
  tell(runner, journal, 'reads the host and plans');
  const planned = await guarded(runner, journal, () => planAttempt(runner, runner.store, journal.state()));
  if (planned.ok) return journal.append(planned.value);
  const { because } = planned;
  return journal.append({
    type: 'planned',
    outcome: 'blocked',
    because: [because],
    planHash: null,
    steps: [],
    before: {},
    routes: null,
  });
}

async function snapshot(runner: Runner, journal: OpenJournal): Promise<void> {
  const { attemptId } = journal;
  const { steps } = journal.state().forward;
  tell(runner, journal, 'keeps copies of what it will change');
  const taken = await takeSnapshots(runner, runner.store, attemptId, steps);
  if (taken.ok) return journal.append({ type: 'snapshotted', snapshots: taken.snapshots });
  return journal.append({ type: 'undo_planned', cause: 'snapshot_failed', because: [taken.because], steps: [] });
}

async function runStep(runner: Runner, journal: OpenJournal, move: MoveOf<'run_step'>): Promise<void> {
  const { lane, index, step } = move;
  const context = contextOf(runner, journal, move);
  const before = await guarded(runner, journal, () => beforeStep(context, step));
  // What was read while everything is told to end may be cut short: the next agent reads it again.
  if (runner.isStopping()) return;
  if (!before.ok) return journal.append({ type: 'failed', lane, step: index, because: before.because, effect: false });
  await journal.append({ type: 'begun', lane, step: index, before: before.value });
  tell(runner, journal, `${lane === 'undo' ? 'back: ' : ''}${stepTitle(step)}`, move);
  await endStep(runner, journal, move, await outcomeOf(runner, journal, () => applyStep(context, step)));
}

/** After a crash: adopt what is there, redo what is not there and may be redone, else it has failed. */
async function probeBegunStep(runner: Runner, journal: OpenJournal, move: MoveOf<'probe_step'>): Promise<void> {
  const { lane, index, step, before } = move;
  const context = contextOf(runner, journal, move);
  tell(runner, journal, `looks what became of ${stepTitle(step)}`, move);
  const found = await guarded(runner, journal, () => probeStep(context, step, before));
  if (runner.isStopping()) return;
  const trace = found.ok ? found.value : 'unclear';
  if (trace === 'present') return journal.append({ type: 'done', lane, step: index, adopted: true });
  // What is put back may be put back again; a step forward whose effect is unclear is not repeated.
  const mayRedo = isIdempotent(step) && (trace === 'absent' || lane === 'undo');
  if (mayRedo) return endStep(runner, journal, move, await outcomeOf(runner, journal, () => applyStep(context, step)));
  const detail = `the agent ended during ${stepTitle(step)} and cannot tell what became of it`;
  return journal.append({
    type: 'failed',
    lane,
    step: index,
    because: { because: 'interrupted', detail },
    effect: await mayHaveEffect(runner, journal, move),
  });
}

async function endStep(
  runner: Runner,
  journal: OpenJournal,
  move: MoveOf<'run_step'> | MoveOf<'probe_step'>,
  outcome: StepOutcome,
): Promise<void> {
  const { lane, index, step } = move;
  if (outcome.ok) return journal.append({ type: 'done', lane, step: index, adopted: false });
  // The step stays begun: whoever carries the attempt on looks what became of it.
  if ('interrupted' in outcome) return;
  runner.log.warn({ attemptId: journal.attemptId, lane, step: stepTitle(step), ...outcome.because }, 'step failed');
  const effect = outcome.effect ?? (await mayHaveEffect(runner, journal, move));
  return journal.append({ type: 'failed', lane, step: index, because: outcome.because, effect });
}

/** A file that holds another text has nothing of ours to put back, whoever wrote it; one that cannot be read may have. */
async function mayHaveEffect(
  runner: Runner,
  journal: OpenJournal,
  move: MoveOf<'run_step'> | MoveOf<'probe_step'>,
): Promise<boolean> {
  const { snapshot } = contextOf(runner, journal, move);
  if (!changesFile(move.step) || !snapshot) return true;
  const now = await guarded(runner, journal, () => readConfig(runner.host, snapshot.path, runner.sha256));
  return !now.ok || !now.value.ok || now.value.sha256 === snapshot.afterSha256;
}

async function verify(runner: Runner, journal: OpenJournal): Promise<void> {
  const { granted, planned } = journal.state();
  tell(runner, journal, 'asks the live host whether it is as wanted');
  // Each step back looked at what it left; there is no job whose wish could be verified.
  if (granted.undoOf !== null) {
    const because = [{ because: 'put_back', detail: `what attempt ${granted.undoOf} changed is as it was` }];
    return journal.append({ type: 'verified', ok: true, because });
  }
  const verdict = await guarded(runner, journal, () => verifyRequest(runner, granted.request, planned?.before ?? {}));
  if (!verdict.ok) return journal.append({ type: 'verified', ok: false, because: [verdict.because] });
  if (verdict.value !== 'stopped') return journal.append({ type: 'verified', ...verdict.value });
}

async function confirm(runner: Runner, journal: OpenJournal): Promise<void> {
  tell(runner, journal, 'waits for a word that this host can still be reached');
  const { granted, planned } = journal.state();
  const word = await guarded(runner, journal, () => confirmReach(runner, granted.origin, planned?.routes ?? null));
  if (!word.ok) return journal.append({ type: 'confirmed', ok: false, because: [word.because] });
  if (word.value !== 'stopped') return journal.append({ type: 'confirmed', ...word.value });
}

/** The result is made once: a copy in the outbox that a crash left without its journal line is taken over. */
async function settle(runner: Runner, journal: OpenJournal, move: MoveOf<'settle'>): Promise<void> {
  const state = journal.state();
  const { nowMs } = await runner.host.moment();
  if (move.outcome === 'rollback_failed')
    await runner.quarantines.begin({ attemptId: journal.attemptId, because: move.because, sinceMs: nowMs });
  const owed = await runner.store.readOutbox(journal.attemptId);
  const result = owed ?? toResult(state, { outcome: move.outcome, because: move.because, nowMs });
  if (!owed && state.granted.origin === 'server') await runner.store.putOutbox(result);
  if (result.outcome === 'succeeded' && lastsBoots(state.granted)) await runner.store.awaitBoot(journal.attemptId);
  await journal.append({ type: 'settled', result });
  runner.log.info(
    { attemptId: journal.attemptId, outcome: result.outcome, because: result.because },
    'attempt settled',
  );
}

function lastsBoots({ request, undoOf }: Granted): boolean {
  const parsed = parseRequest(request.kind, request.params);
  return undoOf === null && parsed.ok && parsed.job.lastsBoots;
}

function contextOf(runner: Runner, journal: OpenJournal, move: { lane: 'do' | 'undo'; index: number }): StepContext {
  const { host, sha256, clock } = runner;
  const snapshots = move.lane === 'do' ? (journal.state().snapshots ?? []) : [];
  return {
    host,
    sha256,
    clock,
    collectFacts: (only) => runner.collectFacts({ host, sha256, only }),
    snapshot: snapshots.find((snapshot) => snapshot.step === move.index),
    readSnapshot: (name) => runner.store.readSnapshot(journal.attemptId, name),
    pause: runner.pause,
    isStopping: runner.isStopping,
    tell: (text) => tell(runner, journal, text, move),
  };
}

async function outcomeOf(runner: Runner, journal: OpenJournal, act: () => Promise<StepOutcome>): Promise<StepOutcome> {
  const guardedOutcome = await guarded(runner, journal, act);
  return guardedOutcome.ok ? guardedOutcome.value : { ok: false, because: guardedOutcome.because };
}

/** A bug in our own code is a failed step that is logged, not a host left half-way. */
async function guarded<T>(
  runner: Runner,
  journal: OpenJournal,
  act: () => Promise<T>,
): Promise<{ ok: true; value: T } | { ok: false; because: PlanReason }> {
  try {
    return { ok: true, value: await act() };
  } catch (error) {
    runner.log.error({ attemptId: journal.attemptId, error }, 'the agent itself failed');
    const detail = error instanceof Error ? error.message : String(error);
    return { ok: false, because: { because: 'agent_bug', detail } };
  }
}

function tell(runner: Runner, journal: OpenJournal, text: string, move?: { lane: string; index: number }): void {
  const state = journal.state();
  runner.onProgress?.({
    attemptId: journal.attemptId,
    phase: phaseOf(state),
    step: move?.lane === 'do' ? move.index : null,
    steps: state.forward.steps.length,
    text,
  });
}
