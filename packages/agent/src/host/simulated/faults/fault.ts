import type { SimulatedClass } from '../classes/index.ts';
import type { Machine } from '../machine.ts';
import { startUnit, stopUnit } from '../systemd.ts';
import type { Unit } from '../unit.ts';

export interface SimulatedFault {
  title: string;
  /** The finding that it causes; null: nothing shows until something is attempted. */
  code: string | null;
  classes: readonly SimulatedClass[];
  /** Makes the cause, as it comes about on a real machine. */
  apply(machine: Machine, unit: Unit): void;
  /** A person removes the cause at the machine. */
  repair(machine: Machine, unit: Unit): void;
  /** Whether the cause is there: also false when somebody else has repaired it. */
  isPresent(machine: Machine, unit: Unit): boolean;
}

export const minute = 60_000;
export const hour = 60 * minute;
export const dockers = ['x86-docker', 'a100-mig', 'hgx-h100', 'orin', 'thor'] as const;
export const containerds = ['x86-containerd-1.7', 'x86-containerd-2', 'h100-mig'] as const;
export const k3ss = ['k3s-server', 'k3s-agent'] as const;
export const discrete = ['x86-docker', 'a100-mig', 'hgx-h100', ...containerds, ...k3ss] as const;
export const withGpu = [...dockers, ...containerds, ...k3ss] as const;

export function restart(machine: Machine, unit: Unit): void {
  stopUnit(machine, unit);
  startUnit(machine, unit);
}
