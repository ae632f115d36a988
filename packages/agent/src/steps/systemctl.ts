import type { Clock } from '@gpufleet/shared/core';
import type { Host } from '../host/host.ts';
import { done, failed, firstLine, type StepOutcome, sleep } from './executor.ts';

const showTimeoutMs = 15_000;
const pollEveryMs = 500;

export interface UnitSnapshot {
  active: string;
  enabled: string;
  /** Changes with every start, also of the same second and across clock changes. */
  run: string;
}

/** null when systemd gives no answer. */
export async function showUnit(host: Host, unit: string): Promise<UnitSnapshot | null> {
  const properties = '--property=ActiveState,UnitFileState,MainPID,ActiveEnterTimestampMonotonic';
  const ran = await host.run(['systemctl', 'show', unit, properties], { timeoutMs: showTimeoutMs });
  if (!ran.ok || ran.value.timedOut || ran.value.exitCode !== 0) return null;
  const fields = new Map(ran.value.stdout.split('\n').map((line) => line.split('=', 2) as [string, string]));
  const active = fields.get('ActiveState');
  if (!active) return null;
  return {
    active,
    enabled: fields.get('UnitFileState') ?? '',
    run: `${fields.get('ActiveEnterTimestampMonotonic') ?? ''}/${fields.get('MainPID') ?? ''}`,
  };
}

/** One `systemctl` verb; what it left is for the caller to look at. */
export async function systemctl(host: Host, verb: string, unit: string, timeoutMs: number): Promise<StepOutcome> {
  const ran = await host.run(['systemctl', verb, unit], { timeoutMs });
  if (!ran.ok) return failed(`systemctl_${ran.because}`, ran.detail);
  if (ran.value.timedOut) return failed('timed_out', `systemctl ${verb} ${unit} did not end in ${timeoutMs / 1_000} s`);
  if (ran.value.exitCode === 0) return done;
  const said = firstLine(ran.value.stderr) || firstLine(ran.value.stdout);
  return failed('unit_failed', said || `systemctl ${verb} ${unit} ended with ${ran.value.exitCode}`);
}

/** Until the unit is active; a unit that failed, or is still not active in time, is an outcome. */
export async function waitUntilActive(host: Host, clock: Clock, unit: string, timeoutMs: number): Promise<StepOutcome> {
  const untilMs = clock.monotonicMs() + timeoutMs;
  for (;;) {
    const ran = await host.run(['systemctl', 'is-active', unit], { timeoutMs: showTimeoutMs });
    const state = ran.ok ? firstLine(ran.value.stdout) : ran.because;
    if (state === 'active') return done;
    if (state === 'inactive' && (await hasEndedWell(host, unit))) return done;
    if (state === 'failed' || state === 'inactive') return failed('unit_not_active', `${unit} is ${state}`);
    if (clock.monotonicMs() >= untilMs) return failed('timed_out', `${unit} is still ${state || 'not active'}`);
    await sleep(clock, pollEveryMs);
  }
}

/** A unit of type oneshot does its work and ends. */
async function hasEndedWell(host: Host, unit: string): Promise<boolean> {
  const ran = await host.run(['systemctl', 'show', unit, '--property=Type,Result'], { timeoutMs: showTimeoutMs });
  if (!ran.ok || ran.value.exitCode !== 0) return false;
  return /^Type=oneshot$/m.test(ran.value.stdout) && /^Result=success$/m.test(ran.value.stdout);
}
