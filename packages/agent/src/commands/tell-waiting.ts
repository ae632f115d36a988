import type { Clock } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';

/** Long enough that a healthy host says nothing, short enough that nobody takes a hung GPU for a hung agent. */
const firstAfterMs = 5_000;
const againAfterMs = 10_000;

/** The same host, which says on the way which program it still waits for: a sick GPU holds nvidia-smi for its whole limit. */
export function tellWaiting<H extends HostReader>(host: H, clock: Clock, tell: (line: string) => void): H {
  return {
    ...host,
    async run(argv, options) {
      const startedAtMs = clock.monotonicMs();
      const seconds = (ms: number) => Math.round(ms / 1_000);
      const timer = { cancel: (): void => undefined };
      const wait = (delayMs: number) => {
        timer.cancel = clock.after(delayMs, () => {
          const waited = seconds(clock.monotonicMs() - startedAtMs);
          tell(
            `still waiting for ${argv.slice(0, 3).join(' ')} (${waited} s of at most ${seconds(options.timeoutMs)} s)\n`,
          );
          wait(againAfterMs);
        });
      };
      wait(firstAfterMs);
      try {
        return await host.run(argv, options);
      } finally {
        timer.cancel();
      }
    },
  };
}
