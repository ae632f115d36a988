import type { AttemptOutcome } from '../../protocol/attempt-report.ts';
import { applyDecision } from '../apply-decision.ts';
import { decideGrant } from '../decide-grant.ts';
import { foldContact, foldResult } from '../fold-result.ts';
import { cancel, type Operated, passGate, pause, resume, stop } from '../operate.ts';
import { applyChanges, type Changes, jobsOf, type Snapshot } from '../snapshot.ts';
import { planRollout } from '../tick.ts';
import { questionOf, type World } from '../world.ts';
import { aHost, aSite } from './a-world.ts';

interface ModelAttempt {
  id: string;
  slotId: string;
  jobId: string;
  hostId: string;
  at: 'offered' | 'granted' | 'settled';
  offeredAtMs: number;
  wasStopped: boolean;
}

/** One rollout, its hosts and the wire, in memory: what the server does with the pure parts, without a database. */
export class RolloutModel {
  nowMs = 1_000_000;
  readonly attempts: ModelAttempt[] = [];
  readonly offlineSinceMs = new Map<string, number>();
  readonly quarantined = new Set<string>();
  grants = 0;

  constructor(public snapshot: Snapshot) {}

  get hostIds(): string[] {
    return this.snapshot.slots.map((slot) => slot.hostId);
  }

  siteOf(hostId: string): string {
    return this.snapshot.slots.find((slot) => slot.hostId === hostId)?.siteId ?? '';
  }

  /** Hosts of a site that are out: by what runs there and who is away, whatever the slots say. */
  outAt(siteId: string): Set<string> {
    const running = this.attempts.filter((attempt) => attempt.at === 'granted').map((attempt) => attempt.hostId);
    return new Set(
      [...running, ...this.offlineSinceMs.keys(), ...this.quarantined].filter((id) => this.siteOf(id) === siteId),
    );
  }

  world(): World {
    const siteIds = [...new Set(this.snapshot.slots.map((slot) => slot.siteId))];
    const granted = this.attempts.filter((attempt) => attempt.at === 'granted');
    return {
      ...this.snapshot,
      nowMs: this.nowMs,
      hosts: new Map(
        this.hostIds.map((id) => [
          id,
          aHost(id, {
            siteId: this.siteOf(id),
            status: this.quarantined.has(id) ? 'quarantined' : 'accepted',
            online: !this.offlineSinceMs.has(id),
            offlineSinceMs: this.offlineSinceMs.get(id) ?? null,
            busyWith: granted.find((attempt) => attempt.hostId === id)?.id ?? null,
          }),
        ]),
      ),
      sites: new Map(
        siteIds.map((id) => [
          id,
          aSite({
            id,
            size: this.hostIds.filter((hostId) => this.siteOf(hostId) === id).length,
            granted: granted.map((attempt) => attempt.hostId).filter((hostId) => this.siteOf(hostId) === id),
            unavailable: [...this.offlineSinceMs.keys(), ...this.quarantined].filter(
              (host) => this.siteOf(host) === id,
            ),
          }),
        ]),
      ),
      clusters: new Map(),
      offers: new Map(
        this.attempts
          .filter((attempt) => attempt.at === 'offered')
          .map((attempt) => [
            attempt.slotId,
            { slotId: attempt.slotId, atMs: attempt.offeredAtMs, isOpen: true, declinedBecause: null },
          ]),
      ),
      controlPlaneSlots: new Set(),
      declaredOfflineMs: new Map(),
      reconciliation: { isDone: true, untilMs: 0 },
    };
  }

  store(changes: Changes): void {
    this.snapshot = applyChanges(this.snapshot, changes);
  }

  tick(): void {
    for (const decision of planRollout(this.world()).decisions) {
      if (decision.do === 'offer') this.offer(decision.slotId);
      else this.store(applyDecision(this.snapshot, decision, this.nowMs));
    }
  }

  private offer(slotId: string): void {
    const slot = this.snapshot.slots.find((each) => each.id === slotId);
    const job = jobsOf(this.snapshot, slotId).find((each) => each.state === 'queued');
    if (!slot || !job) throw new Error('an offer without a job');
    const open = this.attempts.find((attempt) => attempt.jobId === job.id && attempt.at === 'offered');
    if (open) open.offeredAtMs = this.nowMs;
    else
      this.attempts.push({
        id: `${job.id}-${this.attempts.length}`,
        slotId,
        jobId: job.id,
        hostId: slot.hostId,
        at: 'offered',
        offeredAtMs: this.nowMs,
        wasStopped: false,
      });
  }

  /** The agent's claim, however old the offer is. Returns whether a new grant was made. */
  claim(attempt: ModelAttempt): boolean {
    const slot = this.snapshot.slots.find((each) => each.id === attempt.slotId);
    const job = this.snapshot.jobs.find((each) => each.id === attempt.jobId);
    if (!slot || !job || attempt.at !== 'offered' || this.offlineSinceMs.has(attempt.hostId)) return false;
    const decision = decideGrant({
      ...questionOf(this.world(), slot),
      job: { id: job.id, state: job.state, planHash: null },
      slot,
      isNextJob: true,
      claim: { sessionEpoch: 1, plan: { outcome: 'plan', planHash: null, worstCaseMs: 1_000 } },
      sessionEpoch: 1,
      grantTtlMs: 60_000,
    });
    if (!decision.grant) return false;
    attempt.at = 'granted';
    this.grants += 1;
    this.store({ slots: [{ id: slot.id, state: 'granted' }], jobs: [{ id: job.id, state: 'running' }] });
    return true;
  }

  settle(attempt: ModelAttempt, outcome: AttemptOutcome): void {
    if (attempt.at !== 'granted') return;
    attempt.at = 'settled';
    if (outcome === 'rollback_failed') this.quarantined.add(attempt.hostId);
    const end = { jobId: attempt.jobId, outcome, detail: outcome, wasStopped: attempt.wasStopped };
    this.store(foldResult(this.snapshot, end, this.nowMs));
  }

  goOffline(hostId: string): void {
    if (!this.offlineSinceMs.has(hostId)) this.offlineSinceMs.set(hostId, this.nowMs);
  }

  comeBack(hostId: string): void {
    this.offlineSinceMs.delete(hostId);
    for (const attempt of this.attempts)
      if (attempt.hostId === hostId && attempt.at === 'granted')
        this.store(foldContact(this.snapshot, attempt.jobId, this.nowMs));
  }

  operate(operation: 'pause' | 'retry' | 'accept' | 'resume' | 'stop' | 'cancel' | 'pass_gate'): boolean {
    const operated = this.run(operation);
    if (!operated.ok) return false;
    this.store(operated.changes);
    if (operation === 'stop') for (const attempt of this.attempts) attempt.wasStopped ||= attempt.at === 'granted';
    return true;
  }

  private run(operation: Parameters<RolloutModel['operate']>[0]): Operated {
    const none = new Map();
    switch (operation) {
      case 'pause':
        return pause(this.snapshot, 'a person');
      case 'stop':
        return stop(this.snapshot, 'a person');
      case 'cancel':
        return cancel(this.snapshot, 'a person', this.nowMs);
      case 'pass_gate':
        return passGate(this.snapshot, this.nowMs);
      case 'resume':
        return resume(this.snapshot, { dispositions: none, disposition: undefined }, this.nowMs);
      case 'retry':
      case 'accept':
        return resume(this.snapshot, { dispositions: none, disposition: operation }, this.nowMs);
    }
  }
}
