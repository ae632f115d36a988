import { join, resolve } from 'node:path';
import type { Clock } from '@gpufleet/shared/core';
import { FleetError } from '@gpufleet/shared/core';
import { codeOf } from '../host/errno.ts';
import type { Host } from '../host/host.ts';
import { createRealHost } from '../host/real/index.ts';
import type { FaultSpec } from '../host/simulated/index.ts';

export interface HostChoice {
  /** A recorded host's folder. */
  host?: string;
  /** A class of simulated hosts. */
  simulated?: string;
  faults: string[];
}

/** This machine, a recorded one, or a simulated one. */
export async function openHost(choice: HostChoice, clock: Clock): Promise<Host> {
  if (choice.host !== undefined && choice.simulated !== undefined)
    throw new FleetError('usage', 'give --host or --simulated, not both');
  if (choice.simulated === undefined && choice.faults.length > 0)
    throw new FleetError('usage', '--fault is for --simulated hosts');
  if (choice.host === '') throw new FleetError('usage', '--host is empty: name the folder of a recorded host');
  if (choice.host !== undefined) {
    const { openRecordedHost } = await import('../host/recorded/index.ts');
    const dir = choice.host;
    return openRecordedHost(dir).catch((error: unknown) => {
      throw isNoRecording(dir, error) ? noRecording(dir, error) : error;
    });
  }
  if (choice.simulated === undefined) return createRealHost({ clock });
  const { createSimulatedHost, simulatedClassNames, simulatedFaults } = await import('../host/simulated/index.ts');
  const name = simulatedClassNames.find((known) => known === choice.simulated);
  if (name === undefined)
    throw new FleetError(
      'usage',
      `there is no simulated class ${choice.simulated}; classes: ${simulatedClassNames.join(', ')}`,
    );
  const faults = choice.faults.map((fault) => {
    const [faultName] = fault.split(':');
    const known = Object.entries(simulatedFaults).find(([candidate]) => candidate === faultName);
    if (known === undefined)
      throw new FleetError('usage', `there is no fault ${fault}; faults: ${Object.keys(simulatedFaults).join(', ')}`);
    const classes: readonly string[] = known[1].classes;
    if (!classes.includes(name))
      throw new FleetError('usage', `a ${name} host cannot have ${fault}; ${classes.join(', ')} can`);
    // Its name was found in the registry above; the part after a colon names a unit.
    return fault as FaultSpec;
  });
  return createSimulatedHost({ class: name, name: 'host-1', faults, clock });
}

/** There is no host.json, or no folder at all: somebody named the wrong one. What is wrong inside one is another matter. */
function isNoRecording(dir: string, error: unknown): boolean {
  return (
    error instanceof FleetError &&
    error.context.path === join(resolve(dir), 'host.json') &&
    ['ENOENT', 'ENOTDIR'].includes(codeOf(error.cause) ?? '')
  );
}

function noRecording(dir: string, cause: unknown): FleetError {
  const message = `${dir} is no recorded host: there is no host.json in it. Name a folder that gpufleet-agent capture DIR has written`;
  return new FleetError('usage', message, { dir }, { cause });
}
