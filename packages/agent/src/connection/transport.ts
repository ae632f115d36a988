/** What a connection tells its owner. After `closed` nothing more comes. */
export interface TransportEvents {
  opened(): void;
  text(text: string): void;
  /** Any sign of life that is not a message: a pong, a ping. */
  heard(): void;
  closed(why: { detail: string; retryAfterMs: number | null }): void;
}

export interface Connection {
  send(text: string): void;
  ping(): void;
  /** Bytes handed over and not yet taken by the operating system. */
  bufferedBytes(): number;
  /** Says goodbye; ends without one when the other side does not answer in a moment. `closed` still comes. */
  close(code: number, reason: string): void;
}

/** Opens a connection; never throws: what goes wrong arrives as `closed`. */
export type Connect = (url: string, headers: Record<string, string>, events: TransportEvents) => Connection;
