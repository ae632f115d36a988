import type { Claim, Decline, Hello, Progress, Result, ServerMessage } from '@gpufleet/shared/protocol';

/**
 * What the gateway tells the side that keeps jobs and attempts (`resources/jobs`). Messages of one host arrive one at a
 * time, in order: the next is taken when the promise has settled. The returned messages are sent to that host's session
 * afterwards, so a `grant`, `result_ack` or `refusal` that is returned after `db.write` resolved is never ahead of its
 * commit. A throw is logged and ends the session; the agent comes back and tells everything again.
 */
export interface AttemptHandlers {
  /**
   * A session began: the agent's open attempts and what it owes. The welcome was sent before; `sessionEpoch` is this
   * session's. When this resolves, `gateway.hasReconciled(hostId)` turns true.
   */
  onHello(hostId: string, hello: Hello, session: SessionInfo): Promise<ServerMessage[]>;
  /** The session ended. Not called when a newer session of the same host took over. */
  onGone(hostId: string): Promise<void>;
  onClaim(hostId: string, claim: Claim, session: SessionInfo): Promise<ServerMessage[]>;
  onDecline(hostId: string, decline: Decline): Promise<ServerMessage[]>;
  onProgress(hostId: string, progress: Progress): Promise<ServerMessage[]>;
  /** The `result_ack` is returned only after the result is committed; a repeat is acknowledged again. */
  onResult(hostId: string, result: Result): Promise<ServerMessage[]>;
}

export interface SessionInfo {
  /** Of the live session: a claim from an older one is refused. */
  sessionEpoch: number;
  serverEpoch: number;
}
