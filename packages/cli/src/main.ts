import { exitCodes } from './exit.ts';
import { run } from './run.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of our pipe went away (`| head`): nobody is left to write for.
  if (error.code === 'EPIPE') process.exit(exitCodes.fine);
  process.stderr.write(`gpufleet: the output could not be written: ${error.code ?? error.message}\n`);
  process.exit(exitCodes.cannotTell);
});
process.stderr.on('error', () => undefined);

process.exitCode = await run(process.argv.slice(2), process.env, {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
