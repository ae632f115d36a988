import type { Server } from 'node:http';
import type { Deps } from '../deps.ts';
import type { Metrics } from '../http/metrics.ts';
import { acceptConnections } from './accept-connections.ts';
import type { AttemptHandlers } from './attempt-handlers.ts';
import type { Gateway } from './gateway.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { openHostDirectory } from './host-directory.ts';
import { createPresence } from './presence.ts';
import { createSectionIntake } from './section-intake.ts';
import { startServerEpoch } from './server-epoch.ts';
import { type Session, sendTo } from './session.ts';
import { createSessions } from './sessions.ts';
import { takeMessages } from './take-messages.ts';
import { loadTicketSecret } from './ticket-secret.ts';
import { createTickets } from './tickets.ts';
import { createTurns } from './turns.ts';

export interface RunningGateway {
  gateway: Gateway;
  /** Takes upgrades of this HTTP server from now on. */
  serve(server: Server, handlers: AttemptHandlers): void;
  /** Tells the agents to come back later, finishes what they sent, closes. */
  close(): Promise<void>;
}

/** The agents' side of the server. */
export async function createGateway(deps: Deps, metrics: Metrics): Promise<RunningGateway> {
  let served: AttemptHandlers | undefined;
  function handlers(): AttemptHandlers {
    if (!served) throw new Error('the gateway got a connection before serve()');
    return served;
  }
  const epoch = await startServerEpoch(deps.db);
  const directory = await openHostDirectory(deps.db, deps.log);
  const tickets = createTickets(await loadTicketSecret(deps), deps.config.ticketTtlMs);
  const intake = createSectionIntake(deps);
  const presence = createPresence(deps);
  const turns = createTurns<Session>();
  const sessions = createSessions({ deps, metrics, presence, turns, handlers });
  const parts: GatewayParts = {
    deps,
    metrics,
    epoch,
    directory,
    tickets,
    intake,
    presence,
    turns,
    sessions,
    handlers,
  };

  directory.onChange((host) => {
    const session = sessions.liveOf(host.id);
    const isRevoked = host.status !== 'accepted' && host.status !== 'quarantined';
    if (session && isRevoked)
      sessions.reject(session, { code: 'revoked', detail: `the host is ${host.status}`, retryAfterMs: null });
  });

  return {
    gateway: {
      isOnline: (hostId) => sessions.liveOf(hostId) !== undefined,
      lastHeardMonotonicMs: sessions.lastHeardMs,
      sessionEpoch: (hostId) => sessions.openStateOf(hostId)?.epoch,
      hasReconciled: (hostId) => sessions.openStateOf(hostId)?.hasReconciled ?? false,
      send(hostId, message) {
        const session = sessions.liveOf(hostId);
        return session !== undefined && sendTo(session, message);
      },
      onlineCount: sessions.onlineCount,
      serverEpoch: epoch.current,
    },
    serve(server, attemptHandlers) {
      served = attemptHandlers;
      acceptConnections(parts, server, takeMessages(parts));
    },
    async close() {
      await sessions.drain();
      directory.close();
      await intake.close();
      await presence.close();
    },
  };
}
