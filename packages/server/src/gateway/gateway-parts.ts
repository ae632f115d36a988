import type { Deps } from '../deps.ts';
import type { Metrics } from '../http/metrics.ts';
import type { AttemptHandlers } from './attempt-handlers.ts';
import type { HostDirectory } from './host-directory.ts';
import type { Presence } from './presence.ts';
import type { SectionIntake } from './section-intake.ts';
import type { ServerEpoch } from './server-epoch.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';
import type { Tickets } from './tickets.ts';
import type { Turns } from './turns.ts';

/** What a connection needs on its way from the upgrade to its end. */
export interface GatewayParts {
  deps: Deps;
  metrics: Metrics;
  epoch: ServerEpoch;
  directory: HostDirectory;
  tickets: Tickets;
  intake: SectionIntake;
  presence: Presence;
  turns: Turns<Session>;
  sessions: Sessions;
  /** Known once the server serves: see `RunningGateway.serve`. */
  handlers(): AttemptHandlers;
}
