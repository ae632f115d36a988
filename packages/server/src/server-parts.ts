import type { ServerParts } from './app.ts';
import { createAttemptHandlers } from './loops/create-attempt-handlers.ts';
import { startWorkLoop } from './loops/work-loop.ts';

/** What this build of the server runs behind the gateway. */
export const serverParts: ServerParts = {
  createAttemptHandlers,
  loops: [startWorkLoop],
};
