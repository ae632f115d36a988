import type { ServerParts } from './app.ts';

/** What this build of the server runs behind the gateway. */
export const serverParts: ServerParts = {
  createAttemptHandlers: () => ({
    onHello: async () => [],
    onGone: async () => undefined,
    onClaim: async (_hostId, claim) => [
      { type: 'refusal', attemptId: claim.attemptId, because: 'unknown_attempt', detail: 'there is no such attempt' },
    ],
    onDecline: async () => [],
    onProgress: async () => [],
    onResult: async () => [],
  }),
  loops: [],
};
