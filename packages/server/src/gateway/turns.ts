/** Owed reports are asked for in turn: after an outage ten thousand full reports at once would need gigabytes. */
const maxAtOnce = 16;
const maxTurnMs = 30_000;

export interface Turns<K> {
  /** `ask` is called when the turn comes. */
  join(key: K, sections: readonly string[], ask: (sections: readonly string[]) => void, nowMs: number): void;
  /** A section arrived; the last one ends the turn. */
  received(key: K, section: string, nowMs: number): void;
  leave(key: K, nowMs: number): void;
  /** Ends turns that take too long. */
  sweep(nowMs: number): void;
  waiting(): number;
}

interface Turn {
  wanted: Set<string>;
  ask(sections: readonly string[]): void;
  beganMs: number;
}

export function createTurns<K>(): Turns<K> {
  const queue = new Map<K, Turn>();
  const running = new Map<K, Turn>();

  function next(nowMs: number): void {
    for (const [key, turn] of queue) {
      if (running.size >= maxAtOnce) return;
      queue.delete(key);
      turn.beganMs = nowMs;
      running.set(key, turn);
      turn.ask([...turn.wanted]);
    }
  }

  function end(key: K, nowMs: number): void {
    queue.delete(key);
    if (running.delete(key)) next(nowMs);
  }

  return {
    join(key, sections, ask, nowMs) {
      if (sections.length === 0) return;
      queue.set(key, { wanted: new Set(sections), ask, beganMs: nowMs });
      next(nowMs);
    },
    received(key, section, nowMs) {
      const turn = running.get(key);
      if (turn?.wanted.delete(section) && turn.wanted.size === 0) end(key, nowMs);
    },
    leave: end,
    sweep(nowMs) {
      for (const [key, turn] of running) if (nowMs - turn.beganMs > maxTurnMs) end(key, nowMs);
    },
    waiting: () => queue.size,
  };
}
