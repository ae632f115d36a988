import type { StepOf } from '@gpufleet/shared/jobs';
import { done, type Executor, failed } from './executor.ts';
import { showUnit, systemctl } from './systemctl.ts';

export const runUnit: Executor<StepOf<'run_unit'>> = {
  idempotent: true,
  before: async () => null,
  async apply({ host }, { unit, timeoutMs }) {
    // systemctl waits until the unit's work is done; a restart also runs one that stays active when it has ended.
    const ran = await systemctl(host, 'restart', unit, timeoutMs);
    if (!ran.ok) return ran;
    const now = await showUnit(host, unit);
    return now?.active === 'failed' ? failed('unit_failed', `${unit} has failed`) : done;
  },
  /** systemd does not tell for whom it ran last: running it twice does no harm. */
  probe: async () => 'absent',
};
