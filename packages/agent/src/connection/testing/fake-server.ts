import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import {
  type AgentMessage,
  decodeAgentMessage,
  encodeMessage,
  type ServerMessage,
  type Welcome,
} from '@gpufleet/shared/protocol';
import { type WebSocket, WebSocketServer } from 'ws';

/** The server's side of the channel for tests: challenges, welcomes, keeps what it receives. */
export class FakeServer {
  readonly tickets: (string | undefined)[] = [];
  readonly received: AgentMessage[] = [];
  readonly sockets: WebSocket[] = [];
  private constructor(private readonly server: WebSocketServer) {
    server.on('connection', (socket, request) => {
      this.sockets.push(socket);
      this.tickets.push(request.headers.authorization);
      socket.on('message', (data) => {
        const decoded = decodeAgentMessage(String(data));
        if (!decoded.ok) throw new Error(`the agent sent nonsense: ${String(data)}`);
        this.received.push(decoded.message);
        this.onMessage(socket, decoded.message);
      });
      const resumes = this.takesTickets && request.headers.authorization !== undefined;
      if (!resumes) this.onConnection(socket);
    });
  }
  /** Whoever comes with a ticket is not challenged. */
  takesTickets = true;
  onConnection: (socket: WebSocket) => void = (socket) =>
    this.send(socket, { type: 'challenge', nonce: 'n1', serverNowMs: 1 });
  onMessage: (socket: WebSocket, message: AgentMessage) => void = (socket, message) => {
    const isVoid = message.type === 'hello' && message.proof.by === 'ticket' && !this.takesTickets;
    if (message.type === 'hello' && !isVoid) this.send(socket, aWelcome());
  };
  send(socket: WebSocket, message: ServerMessage): void {
    socket.send(encodeMessage(message));
  }
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
  static async start(): Promise<FakeServer> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/agent/v1' });
    await once(server, 'listening');
    const fake = new FakeServer(server);
    return fake;
  }
  stop(): void {
    for (const socket of this.sockets) socket.terminate();
    this.server.close();
  }
}

export function aWelcome(fields: Partial<Welcome> = {}): Welcome {
  return {
    type: 'welcome',
    protocolVersion: 1,
    serverNowMs: 1,
    serverEpoch: 1,
    sessionEpoch: 1,
    heartbeatEveryMs: 50,
    ticket: 'ticket-1',
    staleSections: [],
    signingKeyIds: [],
    ...fields,
  };
}
