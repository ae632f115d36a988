import type { ServerMessage } from '@gpufleet/shared/protocol';

/** The connected agents, as the rest of the server sees them. Liveness lives here, in memory. */
export interface Gateway {
  isOnline(hostId: string): boolean;
  /** When the host was last heard of in this process; undefined: not since start. Monotonic milliseconds. */
  lastHeardMonotonicMs(hostId: string): number | undefined;
  /** Session epoch of the live session, or undefined when offline. */
  sessionEpoch(hostId: string): number | undefined;
  /** The agent has told its open attempts in this server epoch: grants to it are safe. */
  hasReconciled(hostId: string): boolean;
  /** False when offline or too slow (then the session is dropped). */
  send(hostId: string, message: ServerMessage): boolean;
  onlineCount(): number;
  /** Raised at every start, and above any epoch that an agent has seen. Signed into every grant. */
  serverEpoch(): number;
}
