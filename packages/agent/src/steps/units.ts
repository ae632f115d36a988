import type { StepOf } from '@gpufleet/shared/jobs';
import { done, type Executor, failed, firstLine, type StepContext, type Trace } from './executor.ts';
import { showUnit, systemctl, waitUntilActive } from './systemctl.ts';

const enableTimeoutMs = 30_000;
const reloadTimeoutMs = 60_000;

export const restartUnit: Executor<StepOf<'restart_unit'>> = {
  idempotent: true,
  before: async ({ host }, step) => (await showUnit(host, step.unit))?.run ?? null,
  async apply({ host, clock }, step) {
    const restarted = await systemctl(host, 'restart', step.unit, step.timeoutMs);
    return restarted.ok ? waitUntilActive(host, clock, step.unit, step.timeoutMs) : restarted;
  },
  /** A unit that started since the journal was written has read what there was to read, whoever started it. */
  async probe({ host, clock }, step, before): Promise<Trace> {
    const settled = await waitUntilActive(host, clock, step.unit, step.timeoutMs);
    const now = await showUnit(host, step.unit);
    if (now === null || before === null) return 'unclear';
    if (now.run === before) return 'absent';
    return settled.ok ? 'present' : 'absent';
  },
};

export const startUnit: Executor<StepOf<'start_unit'>> = {
  idempotent: true,
  before: stateOf,
  async apply({ host, clock }, step) {
    const started = await systemctl(host, 'start', step.unit, step.timeoutMs);
    return started.ok ? waitUntilActive(host, clock, step.unit, step.timeoutMs) : started;
  },
  probe: ({ host }, step) => trace(host, step.unit, (now) => now.active === 'active'),
};

export const stopUnit: Executor<StepOf<'stop_unit'>> = {
  idempotent: true,
  before: stateOf,
  async apply({ host }, step) {
    const stopped = await systemctl(host, 'stop', step.unit, step.timeoutMs);
    if (!stopped.ok) return stopped;
    const now = await showUnit(host, step.unit);
    return now?.active === 'active' ? failed('unit_still_active', `${step.unit} is still active`) : done;
  },
  probe: ({ host }, step) => trace(host, step.unit, (now) => now.active === 'inactive' || now.active === 'failed'),
};

export const enableUnit: Executor<StepOf<'enable_unit'>> = {
  idempotent: true,
  before: enabledOf,
  async apply({ host }, step) {
    const enabled = await systemctl(host, 'enable', step.unit, enableTimeoutMs);
    if (!enabled.ok) return enabled;
    const now = await showUnit(host, step.unit);
    return now?.enabled.startsWith('enabled') ? done : failed('unit_not_enabled', `${step.unit} is ${now?.enabled}`);
  },
  probe: ({ host }, step) => trace(host, step.unit, (now) => now.enabled.startsWith('enabled')),
};

export const disableUnit: Executor<StepOf<'disable_unit'>> = {
  idempotent: true,
  before: enabledOf,
  async apply({ host }, step) {
    const disabled = await systemctl(host, 'disable', step.unit, enableTimeoutMs);
    if (!disabled.ok) return disabled;
    const now = await showUnit(host, step.unit);
    return now?.enabled.startsWith('enabled') ? failed('unit_still_enabled', `${step.unit} is ${now.enabled}`) : done;
  },
  probe: ({ host }, step) => trace(host, step.unit, (now) => now.enabled === 'disabled'),
};

export const reloadUnits: Executor<StepOf<'reload_units'>> = {
  idempotent: true,
  before: async () => null,
  async apply({ host }) {
    const ran = await host.run(['systemctl', 'daemon-reload'], { timeoutMs: reloadTimeoutMs });
    if (!ran.ok) return failed(`systemctl_${ran.because}`, ran.detail);
    if (ran.value.timedOut) return failed('timed_out', `daemon-reload did not end in ${reloadTimeoutMs / 1_000} s`);
    return ran.value.exitCode === 0 ? done : failed('unit_failed', firstLine(ran.value.stderr));
  },
  /** systemd does not tell when it last read its files: reading them twice does no harm. */
  probe: async () => 'absent',
};

async function stateOf({ host }: StepContext, step: { unit: string }): Promise<string | null> {
  return (await showUnit(host, step.unit))?.active ?? null;
}

async function enabledOf({ host }: StepContext, step: { unit: string }): Promise<string | null> {
  return (await showUnit(host, step.unit))?.enabled ?? null;
}

type Unit = NonNullable<Awaited<ReturnType<typeof showUnit>>>;

async function trace(host: StepContext['host'], unit: string, isThere: (now: Unit) => boolean): Promise<Trace> {
  const now = await showUnit(host, unit);
  if (now === null) return 'unclear';
  return isThere(now) ? 'present' : 'absent';
}
