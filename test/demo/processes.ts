import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execFileAsync = promisify(execFile);

export interface Server {
  url: string;
  port: number;
  process: ChildProcess;
}

/** Resolves as soon as `look` gives a value; throws with `what` and the last words of `log` when it never does. */
export async function waitFor<T>(
  what: string,
  timeoutMs: number,
  look: () => T | undefined | Promise<T | undefined>,
  log?: string,
): Promise<T> {
  const untilMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    if (Date.now() > untilMs)
      throw new Error(
        `${what}: not within ${timeoutMs / 1000} s${log && existsSync(log) ? `\n${lastLines(log)}` : ''}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export function lastLines(path: string, count = 15): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-count).join('\n');
}

/** The real server program, as a process of its own. Port 0 lets the system choose; a restart takes the port it had. */
export async function startServer(root: string, folder: string, port: number): Promise<Server> {
  const ready = join(folder, 'server-ready.json');
  rmSync(ready, { force: true });
  const log = join(folder, 'server.log');
  const argv = [
    'start',
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--database',
    join(folder, 'fleet.db'),
    '--state-dir',
    join(folder, 'server'),
    '--ready-file',
    ready,
  ];
  // The container and this demo are the two places where running as root is meant.
  if (process.getuid?.() === 0) argv.push('--allow-root');
  const child = spawn(process.execPath, [join(root, 'packages/server/bin/gpufleet-server.mjs'), ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      GPUFLEET_HEARTBEAT_EVERY_MS: '1000',
      GPUFLEET_OFFLINE_AFTER_MS: '5000',
      GPUFLEET_TICK_EVERY_MS: '250',
      GPUFLEET_RECONCILE_AFTER_MS: '3000',
    },
  });
  const out = createWriteStream(log, { flags: 'a' });
  child.stdout.pipe(out, { end: false });
  child.stderr.pipe(out, { end: false });
  const told = await waitFor(
    'the server is ready',
    20_000,
    () => {
      if (child.exitCode !== null)
        throw new Error(`the server ended with exit code ${child.exitCode}\n${existsSync(log) ? lastLines(log) : ''}`);
      return existsSync(ready) ? (JSON.parse(readFileSync(ready, 'utf8')) as { url: string }) : undefined;
    },
    log,
  );
  return { url: told.url, port: Number(new URL(told.url).port), process: child };
}

/** Ends a process and waits until it is gone. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await gone;
}

/** What a person at a simulated machine does: the only way to the hosts that does not lead through the server. */
export interface Fleet {
  process: ChildProcess;
  clearFault(host: string, fault: string): Promise<void>;
}

/** All simulated hosts in one process; each has its own agent, key, state folder and socket. */
export async function startFleet(folder: string, url: string, program: string): Promise<Fleet> {
  const log = join(folder, 'hosts.log');
  const child = fork(program, ['--server', url, '--folder', folder], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const out = createWriteStream(log, { flags: 'a' });
  child.stdout?.pipe(out, { end: false });
  child.stderr?.pipe(out, { end: false });
  let enrolled = false;
  child.on('message', (message: { said: string }) => {
    if (message.said === 'enrolled') enrolled = true;
  });
  await waitFor(
    'all hosts are enrolled',
    40_000,
    () => {
      if (child.exitCode !== null)
        throw new Error(`the hosts' process ended with exit code ${child.exitCode}\n${lastLines(log)}`);
      return enrolled || undefined;
    },
    log,
  );
  return {
    process: child,
    clearFault(host, fault) {
      return new Promise((resolve, reject) => {
        child.once('message', (message: { said: string }) =>
          message.said === 'cleared' ? resolve() : reject(new Error(JSON.stringify(message))),
        );
        child.send({ do: 'clear_fault', host, fault });
      });
    },
  };
}

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** The operator's own command line, as a process. */
export function cliOf(root: string, folder: string): (...argv: string[]) => Promise<Ran> {
  return async (...argv) => {
    try {
      const env = { ...process.env, GPUFLEET_LOGIN: join(folder, 'login.json') };
      const { stdout, stderr } = await execFileAsync(
        process.execPath,
        [join(root, 'packages/cli/bin/gpufleet.mjs'), ...argv],
        { env, timeout: 60_000, maxBuffer: 64 * 1024 * 1024 },
      );
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const failed = error as { code?: number; stdout?: string; stderr?: string };
      if (typeof failed.code !== 'number') throw error;
      return { code: failed.code, out: failed.stdout ?? '', err: failed.stderr ?? '' };
    }
  };
}
