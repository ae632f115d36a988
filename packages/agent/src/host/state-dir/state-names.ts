import { FleetError } from '@gpufleet/shared/core';

/** The parts of a relative name. Refuses what could lead out of the state folder or hide in it. */
export function partsOf(name: string): string[] {
  const parts = name.split('/');
  const bad = parts.some((part) => part === '' || part.startsWith('.') || part.includes('\0'));
  if (bad)
    throw new FleetError('state_name_invalid', `${JSON.stringify(name)} is no name in the state folder`, { name });
  return parts;
}

/** A line of a journal; a newline in it would make two. */
export function checkLine(name: string, line: string): void {
  if (line.includes('\n'))
    throw new FleetError('state_name_invalid', `a line for ${name} has a newline in it`, { name });
}

/** Complete lines; what follows the last newline is a torn write. */
export function completeLines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}
