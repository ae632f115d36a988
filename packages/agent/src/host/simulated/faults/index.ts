import { hostClass, type SimulatedClass } from '../classes/index.ts';
import type { Machine } from '../machine.ts';
import { behaviourFaults } from './behaviour-faults.ts';
import { fabricFaults } from './fabric-faults.ts';
import type { SimulatedFault } from './fault.ts';
import { gpuFaults } from './gpu-faults.ts';
import { kernelFaults } from './kernel-faults.ts';
import { kubeFaults } from './kube-faults.ts';
import { runtimeFaults } from './runtime-faults.ts';

export type { SimulatedFault } from './fault.ts';

export const simulatedFaults = {
  ...runtimeFaults,
  ...gpuFaults,
  ...fabricFaults,
  ...kubeFaults,
  ...kernelFaults,
  ...behaviourFaults,
} as const;

export type FaultName = keyof typeof simulatedFaults;
/** `unit_restart_fails:docker.service` names a unit; without one it is the unit of the class's own runtime. */
export type FaultSpec = FaultName | `${'unit_restart_fails' | 'restart_hangs'}:${string}`;

export function fault(name: FaultName): SimulatedFault {
  return simulatedFaults[name];
}

/** The fault and the unit that a spec means; throws where the class cannot have it, which is a mistake of the caller. */
export function resolveFault(machine: Machine, className: SimulatedClass, spec: FaultSpec) {
  const [name, unitName] = spec.split(':') as [FaultName, string | undefined];
  const found = fault(name);
  if (!found.classes.includes(className)) throw new Error(`a host of class ${className} cannot have ${name}`);
  const unit = machine.units.get(unitName ?? hostClass(className).runtimeUnit);
  if (!unit) throw new Error(`${machine.name} has no unit ${unitName}`);
  return { fault: found, unit };
}
