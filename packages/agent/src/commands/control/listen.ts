import { createServer, type Socket } from 'node:net';
import { FleetError } from '@gpufleet/shared/core';
import { type FolderLock, lockFolder } from '../../host/state-dir/index.ts';
import type { StateDir } from '../../host/state-dir.ts';
import type { Log } from '../../jobs/engine.ts';
import { askAgent } from './client.ts';
import { controlName, controlPath } from './paths.ts';
import { type ControlAnswer, ControlRequest } from './protocol.ts';

export type Answer = (request: ControlRequest) => Promise<ControlAnswer>;

export interface Listening {
  close(): void;
}

const maxRequestBytes = 64 * 1024;

/**
 * Takes the state folder for this process: whoever holds its socket is the one that acts on the host. Throws
 * `already_running` when a living agent holds it; a socket that a crash left behind is replaced.
 */
export async function holdStateDir(stateDir: string, state: StateDir, answer: Answer): Promise<Listening> {
  const path = controlPath(stateDir);
  const holder = await askAgent(path, { do: 'status' }, 5_000);
  if (holder.ok) throw alreadyRunning(stateDir);
  // Makes the folder where it is missing, and says at once where it cannot be written.
  await state.write('holder.json', `${JSON.stringify({ pid: process.pid })}\n`);
  // Two that start at the same moment both find nobody: the lock lets one of them through.
  const lock = await takeLock(stateDir);
  try {
    await state.remove(controlName);
    const listening = await listen(path, answer, false);
    return {
      close() {
        listening.close();
        void lock.release();
      },
    };
  } catch (cause) {
    await lock.release();
    if (isInUse(cause)) throw alreadyRunning(stateDir);
    throw new FleetError('state_unwritable', `no socket can be made in ${stateDir}`, {}, { cause });
  }
}

async function takeLock(stateDir: string): Promise<FolderLock> {
  let lock: FolderLock | undefined;
  try {
    lock = await lockFolder(stateDir);
  } catch (cause) {
    if (cause instanceof FleetError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new FleetError('state_unwritable', `${stateDir} cannot be locked: ${why}`, {}, { cause });
  }
  if (lock === undefined) throw alreadyRunning(stateDir);
  return lock;
}

/** Answers `status`, and nothing else, to every user of the host. Not being able to is no reason not to run. */
export async function tellEverybody(path: string, answer: Answer, log: Log): Promise<Listening | undefined> {
  const statusOnly: Answer = async (request) =>
    request.do === 'status'
      ? answer(request)
      : { type: 'refused', code: 'forbidden', detail: 'this socket answers status only' };
  try {
    return await listen(path, statusOnly, true);
  } catch (error) {
    log.info({ path, reason: String(error) }, 'status is told to root only: no socket for everybody');
    return undefined;
  }
}

function listen(path: string, answer: Answer, forAll: boolean): Promise<Listening> {
  const server = createServer((socket) => serve(socket, answer));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, readableAll: forAll, writableAll: forAll }, () => {
      server.off('error', reject);
      server.unref();
      resolve({ close: () => void server.close() });
    });
  });
}

function serve(socket: Socket, answer: Answer): void {
  let text = '';
  let asked = false;
  socket.setEncoding('utf8');
  // Somebody who went away without waiting for the answer is no event.
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    if (asked) return;
    text += chunk;
    if (text.length > maxRequestBytes) socket.destroy();
    if (!text.includes('\n')) return;
    asked = true;
    void reply(text, answer).then((line) => socket.end(line));
  });
}

async function reply(text: string, answer: Answer): Promise<string> {
  let replied: ControlAnswer;
  try {
    const request = ControlRequest.safeParse(JSON.parse(text));
    replied = request.success
      ? await answer(request.data)
      : { type: 'refused', code: 'bad_request', detail: 'not a request of this version' };
  } catch (error) {
    const code = error instanceof FleetError ? error.code : 'internal';
    replied = { type: 'refused', code, detail: error instanceof Error ? error.message : String(error) };
  }
  return `${JSON.stringify(replied)}\n`;
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function alreadyRunning(stateDir: string): FleetError {
  return new FleetError('already_running', `another gpufleet-agent runs with the state folder ${stateDir}`);
}
