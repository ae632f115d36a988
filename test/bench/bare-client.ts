import { WebSocket } from 'ws';

// The baseline of an agent's weight: a connected client with a heartbeat, bundled as the agent is.
const socket = new WebSocket(process.argv[2] ?? '', { perMessageDeflate: false });
let seq = 0;
socket.on('open', () => setInterval(() => socket.send(JSON.stringify({ type: 'heartbeat', seq: seq++ })), 10_000));
