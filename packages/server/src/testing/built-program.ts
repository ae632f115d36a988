import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = process.cwd();

/** The server as one file, built from the sources. Beside the real bundle: it looks for its migrations upwards. */
export async function buildProgram(): Promise<string> {
  const program = join(root, 'packages/server/dist', `test-${process.pid}.mjs`);
  await build({
    entryPoints: [join(root, 'packages/server/src/main.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'shared',
        setup({ onResolve }) {
          onResolve({ filter: /^@gpufleet\/shared\// }, ({ path }) => ({
            path: join(root, 'packages/shared/src', path.slice('@gpufleet/shared/'.length), 'index.ts'),
          }));
        },
      },
    ],
  });
  return program;
}

export interface StartedProgram {
  child: ChildProcess;
  url: string;
  log(): string;
}

export async function startProgram(
  program: string,
  stateDir: string,
  options: { port?: number; env?: Record<string, string> } = {},
): Promise<StartedProgram> {
  const ready = `${stateDir}.ready`;
  rmSync(ready, { force: true });
  const argv = ['start', '--port', String(options.port ?? 0), '--state-dir', stateDir, '--ready-file', ready];
  if (process.getuid?.() === 0) argv.push('--allow-root');
  const child = spawn(process.execPath, [program, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data));
  for (let waitedMs = 0; !existsSync(ready); waitedMs += 20) {
    if (child.exitCode !== null || waitedMs > 15_000) throw new Error(`the server did not start: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { child, url: JSON.parse(readFileSync(ready, 'utf8')).url, log: () => text };
}

/** Ends it by this signal; resolves with its exit code. */
export async function endProgram(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill(signal);
  return ended;
}
