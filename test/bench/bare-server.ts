import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

// The baseline: what a WebSocket server in Node costs at the least. It parses each message and answers with a small one.
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
server.on('connection', (socket) => {
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as { seq?: number };
    socket.send(`{"type":"ack","seq":${message.seq ?? 0}}`);
  });
});
server.on('listening', () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);
