import { createInterface } from 'node:readline/promises';
import './small-process.ts';
import { createSystemClock } from './clock.ts';
import { runCommandLine } from './commands/command-line.ts';
import { exit } from './commands/context.ts';
import { readEnvironment } from './config.ts';

// `gpufleet-agent doctor | head`: whoever stops reading has what they wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exit.fine);
  process.stderr.write(`gpufleet-agent: the output could not be written: ${error.code ?? error.message}\n`);
  process.exit(exit.cannotTell);
});
// Nobody reads the log any more: no reason to leave a host in the middle of a job.
process.stderr.on('error', () => undefined);

// A bug: said in full, and the process ends; systemd starts it again. Node's own report would print the whole bundle.
process.on('uncaughtException', endWithBug);
process.on('unhandledRejection', endWithBug);

void runCommandLine(process.argv.slice(2), {
  environment: readEnvironment(process.env, process.stdout),
  clock: createSystemClock(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  async readStdin() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks).toString('utf8');
  },
  ...(process.stdin.isTTY && process.stderr.isTTY ? { ask: askAtTerminal } : {}),
}).then((code) => {
  // A failed write of the output is told a turn later.
  setImmediate(() => process.exit(code));
}, endWithBug);

async function askAtTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

function endWithBug(error: unknown): void {
  process.stderr.write(`gpufleet-agent: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
