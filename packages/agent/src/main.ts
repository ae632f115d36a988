import './small-process.ts';
import { createSystemClock } from './clock.ts';
import { runCommandLine } from './commands/command-line.ts';
import { readEnvironment } from './config.ts';

// `gpufleet-agent doctor | head`: whoever stops reading has what they wanted.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

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
}).then((code) => process.exit(code), endWithBug);

function endWithBug(error: unknown): void {
  process.stderr.write(`gpufleet-agent: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
