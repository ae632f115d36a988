import type { createSystemClock } from '../clock.ts';
import type { Environment } from '../config.ts';

/** What the process was started with. */
export interface Terminal {
  environment: Environment;
  out(text: string): void;
  err(text: string): void;
  readStdin(): Promise<string>;
  /** Asks the person at the terminal, on stderr; absent where nobody sits at one. */
  ask?(question: string): Promise<string>;
  clock: ReturnType<typeof createSystemClock>;
}

/** What every command is given: `out` and `err` spell out what would drive the terminal. */
export interface Context extends Terminal {
  /** For text with our own colours in it, of which everything else was made printable. */
  outPainted(text: string): void;
}

/** Exit codes are the same everywhere. */
export const exit = { fine: 0, bad: 1, usage: 2, cannotTell: 3, refused: 4 } as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

const refusals = new Set([
  'bad_request',
  'already_enrolled',
  'bad_enrollment_token',
  'token_refused',
  'enrollment_invalid',
  'forbidden',
  'bad_proof_of_possession',
  'host_revoked',
  'already_running',
  'flock_missing',
  'state_unwritable',
  'state_full',
  'unsupported_params',
  'not_available_yet',
  'busy',
  'pruned',
  'denied',
  'not_confirmed',
  'quarantined',
]);
const misuse = new Set(['server_url_invalid', 'usage']);

/** Which exit code an operational failure ends with; what is not listed left the question open. */
export function exitCodeOf(code: string): ExitCode {
  if (misuse.has(code)) return exit.usage;
  return refusals.has(code) ? exit.refused : exit.cannotTell;
}
