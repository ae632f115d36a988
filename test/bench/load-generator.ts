import type { WebSocket } from 'ws';

/** How to reach one kind of server and what to say to it; each message said is answered by exactly one. */
export interface Dialer {
  /** Resolves when the server has let connection number `index` in. */
  dial(index: number, option: string): Promise<WebSocket>;
  heartbeat(index: number, seq: number): string;
  report(index: number, seq: number): string;
  /** A heartbeat that says that the last report still stands. */
  unchanged(index: number, seq: number): string;
}

/** At most this many handshakes at once, as a site that comes back would spread them. */
const inFlight = 128;

export class LoadGenerator {
  private sockets: WebSocket[] = [];
  private seq = 0;

  constructor(private readonly dialer: Dialer) {}

  async connect(count: number, option: string): Promise<object> {
    let next = 0;
    const sockets: WebSocket[] = [];
    const worker = async () => {
      while (next < count) {
        const index = next++;
        sockets[index] = await this.dialer.dial(index, option);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    this.sockets = sockets;
    return { connected: sockets.length };
  }

  async close(): Promise<object> {
    await Promise.all(
      this.sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.once('close', resolve);
            socket.close();
          }),
      ),
    );
    this.sockets = [];
    return { connected: 0 };
  }

  /** `count` messages in all, one in flight on each connection: the next goes out when the answer is in. */
  exchange(count: number, message: (index: number, seq: number) => string): Promise<object> {
    return new Promise((resolve, reject) => {
      let sent = 0;
      let answered = 0;
      const say = (socket: WebSocket, index: number) => {
        sent += 1;
        socket.send(message(index, this.seq++));
      };
      for (const [index, socket] of this.sockets.entries()) {
        socket.removeAllListeners();
        socket.on('message', (data: Buffer) => {
          // Said once in a while beside the answers: a turn to report, a rejection.
          const { type, detail } = JSON.parse(data.toString()) as { type: string; detail?: string };
          if (type === 'rejection') reject(new Error(`connection ${index} was rejected: ${detail}`));
          if (!type.endsWith('ack')) return;
          answered += 1;
          if (answered === count) resolve({ answered });
          else if (sent < count) say(socket, index);
        });
        socket.once('close', (code, reason) =>
          reject(new Error(`connection ${index} was closed (${code} ${reason}) after ${answered} answers`)),
        );
      }
      for (const [index, socket] of this.sockets.entries()) if (sent < count) say(socket, index);
    });
  }
}
