import type { Clock } from '@gpufleet/shared/core';
import type { Ran, Read, RunOptions } from '@gpufleet/shared/host';
import { type ExecaError, execa, type ResultPromise } from 'execa';
import { asRead, codeOf, HostFault } from '../errno.ts';
import { createCappedOutput } from './capped-output.ts';
import { isThere, SEARCH_PATH } from './find-program.ts';
import { DEFAULT_MAX_BYTES } from './read-files.ts';

const KILL_AFTER_MS = 1_000;
// A program in uninterruptible sleep (a GPU that fell off the bus) does not die of SIGKILL either: it is left behind.
const LEAVE_AFTER_MS = 500;
// What a finished program wrote is in the pipe already; a descendant that keeps the pipe open is not waited for.
const DRAIN_MS = 250;

/** What dpkg's helpers ask for: debconf, ucf, the list of changes, and needrestart, which restarts daemons by itself. */
const UNATTENDED = {
  DEBIAN_FRONTEND: 'noninteractive',
  DEBCONF_NONINTERACTIVE_SEEN: 'true',
  UCF_FORCE_CONFFOLD: '1',
  APT_LISTCHANGES_FRONTEND: 'none',
  APT_LISTBUGS_FRONTEND: 'none',
  NEEDRESTART_MODE: 'l',
  NEEDRESTART_SUSPEND: '1',
} as const;

const SPAWN_OPTIONS = {
  // Its own process group, so that it can be ended with all that it started.
  detached: true,
  stdout: 'pipe',
  stderr: 'pipe',
  encoding: 'buffer',
  buffer: false,
  reject: false,
  cwd: '/',
} as const;
type Spawned = ResultPromise<typeof SPAWN_OPTIONS & { stdin: 'ignore' | 'pipe' }>;

type Ending = { by: 'itself'; exitCode: number | null } | { by: 'time_limit' } | { by: 'output_cap' };

/** Runs a program by argument list: no shell, no input but what is given, C locale. */
export function runProgram(clock: Clock, argv: readonly string[], options: RunOptions): Promise<Read<Ran>> {
  return asRead(async () => {
    const [program, ...args] = argv;
    if (!program) throw new HostFault('ENOENT', 'no program is named');
    if (argv.some((arg) => arg.includes('\0'))) throw new HostFault('EIO', `an argument of ${program} has a NUL in it`);
    const { input } = options;
    const stdin: 'ignore' | 'pipe' = input === undefined ? 'ignore' : 'pipe';
    const env = { LC_ALL: 'C', LANG: 'C', PATH: SEARCH_PATH, ...(options.unattended ? UNATTENDED : {}) };
    const child = execa(program, args, { ...SPAWN_OPTIONS, stdin, ...(input === undefined ? {} : { input }), env });
    if (child.pid === undefined) throw await whyNotStarted(child, program);
    return await collect(clock, child, child.pid, options);
  });
}

async function collect(clock: Clock, child: Spawned, pid: number, options: RunOptions): Promise<Ran> {
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const stdout = createCappedOutput(maxBytes);
  const stderr = createCappedOutput(maxBytes);
  const exited = new Promise<Ending>((resolve) =>
    child.once('exit', (exitCode) => resolve({ by: 'itself', exitCode })),
  );
  const drained = Promise.all(
    [child.stdout, child.stderr].map((stream) => new Promise((done) => stream.once('close', done))),
  );
  const overCap = new Promise<Ending>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk) || resolve({ by: 'output_cap' }));
    child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk) || resolve({ by: 'output_cap' }));
  });
  const ending = await within(clock, options.timeoutMs, Promise.race([exited, overCap]), { by: 'time_limit' } as const);
  if (ending.by !== 'itself') await endGroup(clock, pid, exited);
  await within(clock, DRAIN_MS, drained, 'left open');
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
  const truncated = stdout.truncated || stderr.truncated;
  return {
    exitCode: ending.by === 'itself' && !truncated ? ending.exitCode : null,
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut: ending.by === 'time_limit',
    truncated,
  };
}

async function endGroup(clock: Clock, pid: number, exited: Promise<unknown>): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  await within(clock, KILL_AFTER_MS, exited, 'still there');
  // Also when the program itself is gone: what it started may have ignored SIGTERM.
  signalGroup(pid, 'SIGKILL');
  await within(clock, LEAVE_AFTER_MS, exited, 'still there');
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/** Waits for a promise, but not longer than this. */
function within<T, U>(clock: Clock, limitMs: number, promise: Promise<T>, otherwise: U): Promise<T | U> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(limitMs, () => resolve(otherwise));
    promise.then(resolve, reject).finally(cancel);
  });
}

async function whyNotStarted(child: Spawned, program: string): Promise<HostFault> {
  // What did not start has failed, and with `reject: false` the error is what the promise gives.
  const failure = (await child) as unknown as ExecaError;
  if (failure.code === 'EACCES') return new HostFault('EACCES', `${program} may not be run`);
  if (failure.code !== 'ENOENT') return new HostFault('EIO', `${program} did not start: ${failure.originalMessage}`);
  if (await isThere(program)) return new HostFault('EIO', `${program} is there, but its interpreter or loader is not`);
  return new HostFault('ENOENT', `there is no program ${program}`);
}
