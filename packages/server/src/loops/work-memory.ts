import type { Clock } from '@gpufleet/shared/core';

/** What the work on attempts keeps in memory; all of it may be lost at any moment. */
export interface WorkMemory {
  /** When this process began to look: nobody was heard of before. */
  startedAtMs: number;
  /** Session epoch in which an attempt was offered last: an offer to an ended session is no offer. */
  offeredIn: Map<string, number>;
  /** When a granted attempt was last heard of, or its grant sent, by the monotonic clock. */
  lastWordMs: Map<string, number>;
  /** Something outside the store changed, such as who is online: the loop looks again. */
  wake(): void;
  onWake(listener: () => void): () => void;
}

export function createWorkMemory(clock: Clock): WorkMemory {
  const listeners = new Set<() => void>();
  return {
    startedAtMs: clock.nowMs(),
    offeredIn: new Map(),
    lastWordMs: new Map(),
    wake() {
      for (const listener of listeners) listener();
    },
    onWake(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
