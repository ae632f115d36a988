import { type Machine, nowMs } from '../machine.ts';

/** A change of the cluster, for those who watch the machine. */
export function logChange(machine: Machine, what: string): void {
  machine.effects.push({ atMs: nowMs(machine), ok: true, do: 'cluster', what });
}
