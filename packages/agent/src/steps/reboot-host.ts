import type { StepOf } from '@gpufleet/shared/jobs';
import { done, type Executor, failed, interrupted, type StepContext } from './executor.ts';
import { systemctl } from './systemctl.ts';

const pollEveryMs = 2_000;
/** systemd answers at once and goes down afterwards. */
const orderTimeoutMs = 60_000;

export const rebootHost: Executor<StepOf<'reboot_host'>> = {
  // Ordered again only in the boot that was to end: another boot id is the effect.
  idempotent: true,
  before: async ({ host }) => (await host.moment()).bootId,
  async apply(context, step) {
    const bootId = (await context.host.moment()).bootId;
    const ordered = await systemctl(context.host, 'reboot', '--no-block', orderTimeoutMs);
    // The order can have been taken although its answer was cut off by the shutdown.
    if (!ordered.ok && 'because' in ordered && ordered.because.because === 'unit_failed') return ordered;
    return waitForBoot(context, bootId, step.timeoutMs);
  },
  /** Another boot id is another boot, whoever asked for it. */
  async probe(context, _step, before) {
    if (typeof before !== 'string') return 'unclear';
    if ((await context.host.moment()).bootId !== before) return 'present';
    // The agent may have been started again before the shutdown reached it.
    const waited = await waitForBoot(context, before, orderTimeoutMs);
    return waited.ok ? 'present' : 'absent';
  },
};

async function waitForBoot(context: StepContext, bootId: string, timeoutMs: number) {
  const { host, clock } = context;
  const untilMs = clock.monotonicMs() + timeoutMs;
  while ((await host.moment()).bootId === bootId) {
    if (context.isStopping()) return interrupted;
    if (clock.monotonicMs() >= untilMs)
      return failed('not_rebooted', `the host was asked to reboot and is still up after ${timeoutMs / 1_000} s`);
    await context.pause(pollEveryMs);
  }
  return done;
}
