import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { agentPath, maxMessageBytes } from '@gpufleet/shared/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { answerWithoutUpgrade, asksForWebSocket } from './answer-without-upgrade.ts';
import type { GatewayParts } from './gateway-parts.ts';
import { badMessage, newSession, type Resumption, type Session, sendTo } from './session.ts';

/** Takes an agent's connection: the upgrade, what its ticket proves, else a challenge. Its messages go to `take`. */
export function acceptConnections(
  parts: GatewayParts,
  server: Server,
  take: (session: Session, text: string) => void,
): void {
  const { deps, directory, tickets, sessions } = parts;
  const { clock, log } = deps;
  const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes });

  function resume(ticket: string | undefined): Resumption {
    if (ticket === undefined) return { by: 'nothing' };
    const host = directory.find(tickets.holderOf(ticket) ?? '');
    if (!host || !tickets.isValid(ticket, host, clock.nowMs())) return { by: 'void_ticket' };
    return { by: 'ticket', host, enrolledAtMs: host.enrolledAtMs, ticket };
  }

  function begin(socket: WebSocket, resumes: Resumption): void {
    const isChallenged = resumes.by !== 'ticket';
    const nonce = isChallenged ? deps.randomToken(24) : '';
    const session = newSession(socket, nonce, resumes, clock.monotonicMs());
    sessions.add(session);
    socket.on('error', (error) => log.debug({ err: error }, 'agent connection failed'));
    socket.on('close', (code) => sessions.closed(session, code));
    socket.on('message', (data, isBinary) => {
      // ws hands a message over as one Buffer: binaryType is left at its default.
      if (isBinary) sessions.reject(session, badMessage('messages are text'));
      else take(session, (data as Buffer).toString('utf8'));
    });
    // Who resumes by a ticket sends its hello without being asked.
    if (isChallenged) sendTo(session, { type: 'challenge', nonce, serverNowMs: clock.nowMs() });
  }

  server.on('upgrade', (request, socket, head) => {
    if (!asksForWebSocket(request)) return answerWithoutUpgrade(server, request, socket, head);
    socket.on('error', (error) => log.debug({ err: error }, 'agent socket failed'));
    const isBusy = sessions.isBusy();
    if (request.url?.split('?')[0] !== agentPath || isBusy) {
      refuseUpgrade(socket, isBusy ? '503 Service Unavailable' : '404 Not Found');
      return;
    }
    const headerTicket = /^Ticket (\S{1,256})$/.exec(request.headers.authorization ?? '')?.[1];
    // The answer to the upgrade and the challenge leave together.
    socket.cork();
    webSockets.handleUpgrade(request, socket, head, (webSocket) => begin(webSocket, resume(headerTicket)));
    socket.uncork();
  });
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
