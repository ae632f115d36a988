export { type SimulatedClass, simulatedClasses, simulatedClassNames } from './classes/index.ts';
export * from './create-simulated-host.ts';
export { type FaultName, type FaultSpec, type SimulatedFault, simulatedFaults } from './faults/index.ts';
export type { Effect } from './machine.ts';
