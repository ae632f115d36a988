/** Spoken by this build; a peer down to `oldestProtocolVersion` is served as well. */
export const protocolVersion = 1;
export const oldestProtocolVersion = 1;

/** Where an agent dials: `ws(s)://SERVER` + this path. */
export const agentPath = '/agent/v1';

/** Longest message either side accepts, in bytes. */
export const maxMessageBytes = 1024 * 1024;
