import { connect } from 'node:net';
import { FleetError } from '@gpufleet/shared/core';
import { ControlAnswer, type ControlRequest, maxControlBytes } from './protocol.ts';

export type Asked =
  | { ok: true; answer: ControlAnswer }
  /** Nobody listens there. `denied`: somebody may, but not for this user. */
  | { ok: false; because: 'nobody' | 'denied' };

/** Asks the agent that listens at `path`. Without `timeoutMs` it waits for as long as the agent works. */
export function askAgent(path: string, request: ControlRequest, timeoutMs?: number): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    let text = '';
    const broken = (detail: string, cause?: unknown) =>
      reject(new FleetError('agent_unreachable', `the running agent did not answer: ${detail}`, { path }, { cause }));
    if (timeoutMs !== undefined) socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')));
    socket.setEncoding('utf8');
    socket.on('connect', () => socket.write(`${JSON.stringify(request)}\n`));
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > maxControlBytes) socket.destroy(new Error('the answer is too large'));
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'ECONNREFUSED')
        resolve({ ok: false, because: 'nobody' });
      else if (error.code === 'EACCES' || error.code === 'EPERM') resolve({ ok: false, because: 'denied' });
      else broken(error.message, error);
    });
    socket.on('close', () => {
      const answer = parseAnswer(text);
      if (answer) resolve({ ok: true, answer });
      else broken('the connection ended without an answer');
    });
  });
}

function parseAnswer(text: string): ControlAnswer | undefined {
  if (!text.endsWith('\n')) return undefined;
  try {
    return ControlAnswer.parse(JSON.parse(text));
  } catch {
    // The caller reports a connection that ended without an answer.
    return undefined;
  }
}
