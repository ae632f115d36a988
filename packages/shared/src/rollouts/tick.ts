import { explainSlots, type Held } from './explain.ts';
import { isAccepted, judgeGate } from './gate.ts';
import { isActive } from './grant-checks.ts';
import { currentWave, isTail, type SlotView, slotsOf, type WaveView } from './snapshot.ts';
import { settledSlotStates } from './states.ts';
import { hostOf, type World } from './world.ts';

export type Decision =
  | { do: 'offer'; slotId: string }
  /** The wave opens: slots of `away` fare as the policy says of offline hosts, the rest wait for their grant. */
  | { do: 'open_wave'; index: number; away: string[] }
  | { do: 'leave_offline'; slotId: string }
  /** Its host is decommissioned. */
  | { do: 'skip_slot'; slotId: string }
  /** A deferred host is back: into its wave while that is open, else into the lane of deferred hosts. */
  | { do: 'return_slot'; slotId: string; toTail: boolean }
  | { do: 'mark_unknown'; slotId: string }
  | { do: 'start_soak'; index: number; untilMs: number }
  | { do: 'await_gate'; index: number; because: 'manual' | 'canary_empty' }
  | { do: 'pass_wave'; index: number }
  | { do: 'halt'; index: number; because: string; detail: string }
  | { do: 'wait_for_window' }
  | { do: 'leave_window' }
  | { do: 'begin_catch_up'; untilMs: number }
  | { do: 'complete' }
  | { do: 'expire' }
  | { do: 'finish_cancel' };

export interface Tick {
  decisions: Decision[];
  held: Held[];
  /** When to look again although nothing happened; null: only an event can change anything. */
  wakeAtMs: number | null;
}

/** What to do next for one rollout, and for each slot that is not done why it does not go on. Pure. */
export function planRollout(world: World): Tick {
  const decisions = decide(withoutTheGone(world));
  const { offers, held } = explainSlots(world);
  // Moves of the machines come first: an offer must stand on what they leave.
  if (decisions.length === 0 && isActive(world.rollout)) {
    decisions.push(...offers.map((slotId): Decision => ({ do: 'offer', slotId })));
    const windowMove = decideWindow(world, offers, held);
    if (windowMove) decisions.unshift(windowMove);
  }
  return { decisions, held, wakeAtMs: findWake(world, held) };
}

/**
 * A host that was decommissioned sends no result: its unknown slot counts against the gate as a failure does, and nobody
 * waits for it. The slot itself stays unknown; should the host be enrolled again, its result is taken.
 */
function withoutTheGone(world: World): World {
  const isGone = (slot: SlotView) => slot.state === 'unknown' && hostOf(world, slot).status === 'decommissioned';
  if (!world.slots.some(isGone)) return world;
  return { ...world, slots: world.slots.map((slot) => (isGone(slot) ? { ...slot, state: 'failed' } : slot)) };
}

function decide(world: World): Decision[] {
  const { rollout, nowMs } = world;
  const isExpired = rollout.expiresAtMs !== null && nowMs >= rollout.expiresAtMs;
  switch (rollout.state) {
    case 'draft':
    case 'planned':
    case 'awaiting_approval':
    case 'approved':
    case 'scheduled':
      return isExpired ? [{ do: 'expire' }] : [];
    case 'canceling':
      return world.slots.some(isOut) ? findUnknown(world) : [{ do: 'finish_cancel' }];
    case 'running':
    case 'waiting_window':
    case 'completing':
    case 'paused':
    case 'halted': {
      if (isExpired) return [{ do: 'expire' }];
      const unknown = findUnknown(world);
      if (unknown.length > 0) return unknown;
      if (rollout.state === 'halted') return [];
      const halt = findHalt(world);
      if (halt) return [halt];
      return rollout.state === 'paused' ? [] : decideProgress(world);
    }
    case 'rolling_back':
    case 'rolled_back':
    case 'rejected':
    case 'succeeded':
    case 'completed_with_exceptions':
    case 'canceled':
    case 'stale':
    case 'superseded':
      return [];
  }
}

function isOut(slot: SlotView): boolean {
  return slot.state === 'granted' || slot.state === 'unknown';
}

function isWithoutGrant(slot: SlotView): boolean {
  return slot.state === 'queued' || slot.state === 'waiting' || slot.state === 'deferred';
}

function findUnknown(world: World): Decision[] {
  return world.slots
    .filter((slot) => slot.state === 'granted' && leaseEndMs(world, slot) <= world.nowMs)
    .map((slot) => ({ do: 'mark_unknown', slotId: slot.id }));
}

/** While a host is in contact its lease has no end. */
function leaseEndMs(world: World, slot: SlotView): number {
  const { offlineSinceMs } = hostOf(world, slot);
  if (offlineSinceMs === null) return Number.POSITIVE_INFINITY;
  return offlineSinceMs + (world.declaredOfflineMs.get(slot.id) ?? 0) + world.rollout.policy.contactGraceMs;
}

function findHalt(world: World): Decision | undefined {
  for (const wave of world.waves.filter((each) => each.state !== 'pending' && each.state !== 'passed')) {
    const verdict = judgeGate(world, wave);
    if (verdict.at === 'halt')
      return { do: 'halt', index: wave.index, because: verdict.because, detail: verdict.detail };
  }
  return undefined;
}

function decideProgress(world: World): Decision[] {
  const gone = world.slots.filter((slot) => isWithoutGrant(slot) && hostOf(world, slot).status === 'decommissioned');
  if (gone.length > 0) return gone.map((slot) => ({ do: 'skip_slot', slotId: slot.id }));
  const returning = world.slots
    .filter((slot) => slot.state === 'deferred' && hostOf(world, slot).online)
    .map((slot): Decision => ({ do: 'return_slot', slotId: slot.id, toTail: !isOpen(world, slot) }));
  if (returning.length > 0) return returning;
  const wave = currentWave(world);
  const waveMove = wave ? decideWave(world, wave) : decideEnd(world);
  return waveMove.length > 0 ? waveMove : leaveOffline(world);
}

function isOpen(world: World, slot: SlotView): boolean {
  return world.waves.some((wave) => wave.index === slot.waveIndex && wave.state === 'open');
}

function decideWave(world: World, wave: WaveView): Decision[] {
  const { policy } = world.rollout;
  const slots = slotsOf(world, wave);
  if (wave.state === 'pending') return openWave(world, wave, slots);
  if (wave.state === 'soaking' && world.nowMs < (wave.soakUntilMs ?? 0)) return [];
  if (wave.state === 'awaiting_gate' || wave.state === 'failed') return [];
  if (judgeGate(world, wave).at !== 'pass') return [];
  const isEmpty = !slots.some((slot) => slot.state === 'succeeded' || slot.state === 'noop');
  if (wave.state === 'open' && !isEmpty && policy.soakMs > 0)
    return [{ do: 'start_soak', index: wave.index, untilMs: world.nowMs + policy.soakMs }];
  const isAway = slots.some((slot) => slot.state === 'deferred');
  // Everyone is away: an outage of minutes must not run through the waves.
  if (isEmpty && isAway && world.nowMs < givenUpAtMs(world, wave)) return [];
  // A canary in which nobody ran has shown nothing.
  if (isEmpty && wave.isCanary && (isAway || slots.some((slot) => slot.state === 'skipped')))
    return [{ do: 'await_gate', index: wave.index, because: 'canary_empty' }];
  return policy.gate === 'manual' && !isEmpty
    ? [{ do: 'await_gate', index: wave.index, because: 'manual' }]
    : [{ do: 'pass_wave', index: wave.index }];
}

/** When a wave of which every host is deferred stops waiting for one to come back. */
function givenUpAtMs(world: World, wave: WaveView): number {
  return (wave.openedAtMs ?? 0) + world.rollout.policy.deferAfterMs;
}

function openWave(world: World, wave: WaveView, slots: readonly SlotView[]): Decision[] {
  const offline = slots.filter((slot) => !hostOf(world, slot).online);
  // Right after a start everyone is away for a moment; nobody is judged by that.
  if (offline.length > 0 && world.nowMs < world.reconciliation.untilMs) return [];
  const isJudged = world.rollout.policy.offline !== 'wait';
  return [{ do: 'open_wave', index: wave.index, away: isJudged ? offline.map((slot) => slot.id) : [] }];
}

/** Hosts that went away after their wave opened and before their grant. */
function leaveOffline(world: World): Decision[] {
  const { policy } = world.rollout;
  if (policy.offline === 'wait') return [];
  return world.slots
    .filter((slot) => {
      if (slot.state !== 'waiting') return false;
      const { offlineSinceMs } = hostOf(world, slot);
      return offlineSinceMs !== null && world.nowMs >= offlineSinceMs + policy.deferAfterMs;
    })
    .map((slot) => ({ do: 'leave_offline', slotId: slot.id }));
}

function decideEnd(world: World): Decision[] {
  const open = world.slots.filter(
    (slot) => !settledSlotStates.some((state) => state === slot.state) && !isAccepted(slot),
  );
  if (open.length === 0) return [{ do: 'complete' }];
  if (world.rollout.state !== 'completing')
    return [
      {
        do: 'begin_catch_up',
        // A pause meanwhile does not make it longer.
        untilMs: world.rollout.catchUpUntilMs ?? world.nowMs + world.rollout.policy.catchUpMs,
      },
    ];
  const isOver = world.nowMs >= (world.rollout.catchUpUntilMs ?? 0);
  return isOver && !open.some(isOut) ? [{ do: 'complete' }] : [];
}

/** The rollout itself waits when its windows are all that every remaining host waits for. */
function decideWindow(world: World, offers: readonly string[], held: readonly Held[]): Decision | undefined {
  const waiting = new Set(world.slots.filter((slot) => slot.state === 'waiting').map((slot) => slot.id));
  const isShut =
    waiting.size > 0 &&
    offers.length === 0 &&
    !world.slots.some(isOut) &&
    held.every((each) => !waiting.has(each.slotId) || each.because === 'window');
  if (world.rollout.state === 'running' && isShut) return { do: 'wait_for_window' };
  if (world.rollout.state === 'waiting_window' && !isShut) return { do: 'leave_window' };
  return undefined;
}

function findWake(world: World, held: readonly Held[]): number | null {
  const { rollout } = world;
  const times = [rollout.expiresAtMs, rollout.catchUpUntilMs, ...held.map((each) => each.wakeAtMs)];
  times.push(...world.waves.map((wave) => (wave.state === 'soaking' ? wave.soakUntilMs : null)));
  times.push(...world.waves.map((wave) => (wave.state === 'open' ? givenUpAtMs(world, wave) : null)));
  times.push(...world.slots.filter((slot) => slot.state === 'granted').map((slot) => leaseEndMs(world, slot)));
  if (world.waves.some((wave) => !isTail(wave) && wave.state === 'pending')) times.push(world.reconciliation.untilMs);
  const coming = times.filter((atMs): atMs is number => atMs !== null && Number.isFinite(atMs) && atMs > world.nowMs);
  return coming.length === 0 ? null : Math.min(...coming);
}
