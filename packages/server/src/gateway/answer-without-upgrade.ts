import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** What the client asked of this one connection. */
const hopHeaders = new Set(['connection', 'upgrade', 'http2-settings']);

/** Others offer HTTP/2 (h2c), as some clients do with every first request. */
export function asksForWebSocket(request: IncomingMessage): boolean {
  return /\bwebsocket\b/i.test(request.headers.upgrade ?? '');
}

/**
 * A server may ignore an offered upgrade, but Node hands every such request to the one who takes upgrades, its body
 * unread. So the request goes back to where it came from, without the offer, as a new connection of its own.
 */
export function answerWithoutUpgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  const { rawHeaders } = request;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!hopHeaders.has(rawHeaders[at]?.toLowerCase() ?? '')) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  lines.push('Connection: close', '', '');
  // Node reads header bytes as latin1: so they are the same bytes again.
  socket.unshift(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), head]));
  server.emit('connection', socket);
}
