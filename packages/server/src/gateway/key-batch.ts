import type { Clock } from '@gpufleet/shared/core';
import type { Logger } from 'pino';

/** Collects keys and works on all of them some time after the first, so that a burst costs one run for each key. */
export interface KeyBatch {
  add(key: string): void;
  /** Works off what is collected, now. */
  flush(): Promise<void>;
}

export function createKeyBatch(
  parts: { clock: Clock; log: Logger; delayMs: number },
  work: (key: string) => Promise<void>,
): KeyBatch {
  const keys = new Set<string>();
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  async function workOff(): Promise<void> {
    cancel = undefined;
    const due = [...keys];
    keys.clear();
    for (const key of due) {
      try {
        await work(key);
      } catch (error) {
        parts.log.error({ err: error, key }, 'batched work failed');
      }
    }
  }

  return {
    add(key) {
      keys.add(key);
      cancel ??= parts.clock.after(parts.delayMs, () => {
        running = running.then(workOff);
      });
    },
    async flush() {
      cancel?.();
      running = running.then(workOff);
      await running;
    },
  };
}
