import type { IncomingMessage } from 'node:http';
import { maxMessageBytes } from '@gpufleet/shared/protocol';
import WebSocket from 'ws';
import type { Connect } from './transport.ts';

const handshakeTimeoutMs = 10_000;
const closeGraceMs = 1_500;

/** The one real transport: a WebSocket that the agent dials. */
export const connectWebSocket: Connect = (url, headers, events) => {
  let done = false;
  let detail = 'the connection could not be made';
  let retryAfterMs: number | null = null;
  const finish = () => {
    if (done) return;
    done = true;
    events.closed({ detail, retryAfterMs });
  };
  // Compression costs 35 times the memory on the server and gains nothing on messages this small.
  const socket = new WebSocket(url, {
    headers,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handshakeTimeout: handshakeTimeoutMs,
    followRedirects: false,
  });
  socket.on('open', () => events.opened());
  socket.on('message', (data, isBinary) => {
    if (done) return;
    if (isBinary) {
      detail = 'the server sent a binary message';
      socket.close(1003, 'text only');
      return;
    }
    events.text(data.toString());
  });
  socket.on('pong', () => events.heard());
  socket.on('ping', () => events.heard());
  socket.on('unexpected-response', (request, response) => {
    detail = `the server answered HTTP ${response.statusCode ?? 0} instead of opening the agents' channel`;
    retryAfterMs = readRetryAfterMs(response);
    response.resume();
    request.destroy();
    finish();
  });
  socket.on('error', (error) => {
    detail = error.message === '' ? String((error as NodeJS.ErrnoException).code ?? 'failed') : error.message;
  });
  socket.on('close', (code, reason) => {
    if (code !== 1006) detail = `closed by the server: ${code} ${reason.toString()}`.trimEnd();
    finish();
  });
  return {
    send: (text) => socket.send(text, ignoreLateError),
    ping: () => socket.ping(undefined, undefined, ignoreLateError),
    bufferedBytes: () => socket.bufferedAmount,
    close(code, reason) {
      detail = reason;
      socket.close(code, reason);
      setTimeout(() => socket.terminate(), closeGraceMs).unref();
    },
  };
};

function ignoreLateError(): void {
  // A write that meets a closing socket: `close` follows and says what happened.
}

function readRetryAfterMs(response: IncomingMessage): number | null {
  const seconds = Number(response.headers['retry-after']);
  return Number.isFinite(seconds) && response.headers['retry-after'] !== undefined ? seconds * 1000 : null;
}
