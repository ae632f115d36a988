import { CliError, exitCodes } from '../exit.ts';

/** A number of rows, 1 to a million; anything else is a usage error. */
export function parseCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CliError(exitCodes.usage, `${text}: a count is a whole number from 1 to 999999`);
}
