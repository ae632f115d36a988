import type { ServerResponse } from 'node:http';

export interface EventFilter {
  site?: string | undefined;
  host?: string | undefined;
  rollout?: string | undefined;
  /** `finding` matches `finding.opened` and `finding.cleared`. */
  type?: string | undefined;
}

export interface ListenRequest {
  filter: EventFilter;
  afterId: number | undefined;
  /** Asked now and then: a token that was revoked, or has expired, listens no longer. */
  isAllowed(): Promise<boolean>;
}

/** Who listens to `/events`, as the rest of the server sees them. Made by `resources/events`. */
export interface EventStream {
  /** Sends what came after `afterId`, then everything new, until the client goes or is too slow. */
  listen(response: ServerResponse, request: ListenRequest): Promise<void>;
  isFull(): boolean;
  close(): void;
}
