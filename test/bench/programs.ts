import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cliOf, endProcess, startServer } from '../demo/processes.ts';

const root = process.env.GPUFLEET_BENCH_ROOT ?? process.cwd();
const tools = join(root, '.cache/bench');

/** Servers run on core 0, the load on core 1, so that neither eats the other's time. One core: both share it. */
function pinned(core: number, argv: string[]): ChildProcess {
  return spawn('taskset', ['-c', String(core), ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
}

function lines(child: ChildProcess): () => Promise<Record<string, unknown>> {
  if (child.stdout === null) throw new Error('the child has no output');
  const iterator = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await iterator.next();
    if (done) throw new Error(`a process of the benchmark ended early (exit code ${child.exitCode})`);
    return JSON.parse(value) as Record<string, unknown>;
  };
}

export interface Running {
  pid: number;
  loadArgs: string[];
  stop(): Promise<void>;
}

export async function startBare(): Promise<Running> {
  const child = pinned(0, [process.execPath, join(tools, 'bare-server.mjs')]);
  const { port } = await lines(child)();
  return {
    pid: child.pid ?? 0,
    loadArgs: ['bare', `ws://127.0.0.1:${port}`],
    stop: () => endProcess(child, 'SIGKILL'),
  };
}

/** The real server program with an empty database, and an enrolment token for `hosts` hosts. */
export async function startFleetServer(hosts: number): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'gpufleet-bench-'));
  const server = await startServer(root, folder, 0);
  execFileSync('taskset', ['-acp', '0', String(server.process.pid)], { stdio: 'ignore' });
  const cli = cliOf(root, folder);
  const must = async (...argv: string[]) => {
    const { code, out, err } = await cli(...argv);
    if (code !== 0) throw new Error(`gpufleet ${argv.join(' ')}: ${err}`);
    return out;
  };
  await must('login', '--server', server.url, '--token-file', join(folder, 'server/admin-token'));
  await must('site', 'create', 'bench');
  writeFileSync(join(folder, 'token'), await must('token', 'create', '--site', 'bench', '--uses', String(hosts)), {
    mode: 0o600,
  });
  return {
    pid: server.process.pid ?? 0,
    loadArgs: ['fleet', server.url, join(folder, 'token'), String(hosts)],
    async stop() {
      await endProcess(server.process, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Load {
  command(line: string): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

export async function startLoad(args: readonly string[]): Promise<Load> {
  const child = pinned(1, [process.execPath, join(tools, 'load-main.mjs'), ...args]);
  const next = lines(child);
  await next();
  return {
    async command(line) {
      child.stdin?.write(`${line}\n`);
      return next();
    },
    async stop() {
      child.stdin?.write('quit\n');
      await once(child, 'exit');
    },
  };
}

export { root, tools };
