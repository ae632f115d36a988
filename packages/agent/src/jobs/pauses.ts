import type { Clock } from '@gpufleet/shared/core';

/** Waits that all end at once when the engine stops. */
export interface Pauses {
  pause(ms: number): Promise<void>;
  end(): void;
  areOver(): boolean;
  /** A wait that does not end early. */
  grace(ms: number): Promise<void>;
}

export function createPauses(clock: Clock): Pauses {
  let over = false;
  const waiting = new Set<() => void>();

  function pause(ms: number): Promise<void> {
    if (over) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = () => {
        waiting.delete(finish);
        cancel();
        resolve();
      };
      const cancel = clock.after(ms, finish);
      waiting.add(finish);
    });
  }

  return {
    pause,
    areOver: () => over,
    grace: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    end() {
      over = true;
      for (const finish of [...waiting]) finish();
    },
  };
}
