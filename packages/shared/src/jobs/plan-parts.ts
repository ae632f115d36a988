import type { UnitState } from '../probes/fact.ts';
import type { Plan, PlanReason, StepOf } from './step.ts';

export function blocked(because: string, detail: string): Extract<Plan, { outcome: 'blocked' }> {
  return { outcome: 'blocked', because: [{ because, detail }] };
}

export function noop(because: string, detail: string): Extract<Plan, { outcome: 'noop' }> {
  return { outcome: 'noop', because: [{ because, detail }] };
}

export function reason(because: string, detail: string): PlanReason {
  return { because, detail };
}

/** A bounced daemon may take this long before it is active again. */
const restartTimeoutMs = {
  docker: 120_000,
  containerd: 60_000,
  crio: 60_000,
  k3s: 180_000,
  'k3s-agent': 180_000,
  // A server waits for its etcd.
  'rke2-server': 300_000,
  'rke2-agent': 180_000,
  'snap.microk8s.daemon-containerd': 60_000,
  // It trains every link before it says that it has started.
  'nvidia-fabricmanager': 180_000,
  'nvidia-persistenced': 60_000,
  // It waits for nvidia-smi, which takes its time where there are many GPUs.
  'nvidia-cdi-refresh': 120_000,
  chrony: 30_000,
  chronyd: 30_000,
  'systemd-timesyncd': 30_000,
} as const;
export type ServiceUnit = keyof typeof restartTimeoutMs;
export const serviceUnits = Object.keys(restartTimeoutMs) as [ServiceUnit, ...ServiceUnit[]];

export function restartUnit(unit: ServiceUnit, filesWereBroken = false): StepOf<'restart_unit'> {
  const step = { do: 'restart_unit', unit: `${unit}.service`, timeoutMs: restartTimeoutMs[unit] } as const;
  return filesWereBroken ? { ...step, filesWereBroken } : step;
}

export function startUnit(unit: ServiceUnit): StepOf<'start_unit'> {
  return { do: 'start_unit', unit: `${unit}.service`, timeoutMs: restartTimeoutMs[unit] };
}

/** Why a job cannot use the unit, or null. */
export function unitProblem(unit: UnitState | null, name: string): PlanReason | null {
  if (unit === null) return reason('unit_unknown', `systemd knows no ${name}, or was not readable`);
  if (unit.loadState === 'masked') return reason('unit_masked', `${unit.name} is masked: a person unmasks it`);
  if (unit.loadState !== 'loaded') return reason('unit_unknown', `${unit.name} is ${unit.loadState}`);
  return null;
}

/** From the order until the agent is back: a server with much memory tests it at every boot. */
export const rebootTimeoutMs = 20 * 60_000;
