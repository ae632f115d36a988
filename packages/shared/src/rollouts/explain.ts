import { findHold, type Hold } from './grant-checks.ts';
import type { SlotView } from './snapshot.ts';
import { declineRetryMs, hostOf, nextJob, offerTtlMs, questionOf, type World } from './world.ts';

/** A slot that has no grant, and why. */
export interface Held extends Hold {
  slotId: string;
  sinceMs: number;
}

export interface Explanation {
  /** Slots whose hosts may be asked now, in order. */
  offers: string[];
  /** Every other slot that is queued, waiting or deferred. */
  held: Held[];
}

/** For each slot without a grant: ask its host now, or the reason why not. Open offers keep their place in the budget. */
export function explainSlots(world: World): Explanation {
  const offers: string[] = [];
  const held: Held[] = [];
  const placed = new Map<string, string[]>();
  const waiting = [...world.slots].sort((a, b) => a.waveIndex - b.waveIndex || a.position - b.position);
  const place = (slot: SlotView) => {
    const { siteId } = hostOf(world, slot);
    placed.set(siteId, [...(placed.get(siteId) ?? []), slot.hostId]);
  };
  for (const slot of waiting) if (slot.state === 'waiting' && isAsked(world, slot)) place(slot);
  for (const slot of waiting) {
    if (slot.state !== 'queued' && slot.state !== 'waiting' && slot.state !== 'deferred') continue;
    const hold = findSlotHold(world, slot, placed.get(hostOf(world, slot).siteId) ?? []);
    if (hold) {
      held.push({ slotId: slot.id, sinceMs: sinceOf(world, slot, hold), ...hold });
    } else {
      offers.push(slot.id);
      place(slot);
    }
  }
  return { offers, held };
}

function findSlotHold(world: World, slot: SlotView, placed: readonly string[]): Hold | undefined {
  if (slot.state === 'deferred') return findDeferredHold(world, slot);
  const others = placed.filter((hostId) => hostId !== slot.hostId);
  const hold = findHold(questionOf(world, slot, others));
  if (hold) return hold.because === 'offline' ? { ...hold, wakeAtMs: deferAtMs(world, slot) } : hold;
  if (!nextJob(world, slot.id))
    return { because: 'dependency', detail: 'no job is left to run', clearedBy: 'a person', wakeAtMs: null };
  return findAnswerHold(world, slot);
}

/** Reasons of a deferred host are those of the lane it will run in. */
function findDeferredHold(world: World, slot: SlotView): Hold | undefined {
  const host = hostOf(world, slot);
  const rolloutHold = findHold({ ...questionOf(world, slot), wave: null });
  if (rolloutHold && !host.online) return { ...rolloutHold, wakeAtMs: world.rollout.catchUpUntilMs };
  return {
    because: 'offline',
    detail: 'deferred while it was offline; it is back and joins again',
    clearedBy: 'the next look at the rollout',
    wakeAtMs: world.nowMs,
  };
}

function findAnswerHold(world: World, slot: SlotView): Hold | undefined {
  const offer = world.offers.get(slot.id);
  if (!offer) return undefined;
  if (offer.declinedBecause) {
    const retryAtMs = offer.atMs + declineRetryMs;
    if (world.nowMs >= retryAtMs) return undefined;
    const { because, detail } = offer.declinedBecause;
    return {
      because: 'precheck',
      detail: `${because}: ${detail}`,
      clearedBy: 'the host plans it',
      wakeAtMs: retryAtMs,
    };
  }
  if (!isAsked(world, slot)) return undefined;
  return {
    because: 'precheck',
    detail: 'the host was asked and is planning',
    clearedBy: 'its answer',
    wakeAtMs: offer.atMs + offerTtlMs,
  };
}

function isAsked(world: World, slot: SlotView): boolean {
  const offer = world.offers.get(slot.id);
  return offer?.isOpen === true && offer.declinedBecause === null && world.nowMs < offer.atMs + offerTtlMs;
}

function deferAtMs(world: World, slot: SlotView): number | null {
  const { offlineSinceMs } = hostOf(world, slot);
  return world.rollout.policy.offline === 'defer' && offlineSinceMs !== null
    ? offlineSinceMs + world.rollout.policy.deferAfterMs
    : null;
}

function sinceOf(world: World, slot: SlotView, hold: Hold): number {
  if (hold.because === 'offline') return hostOf(world, slot).offlineSinceMs ?? slot.sinceMs;
  return slot.sinceMs;
}
