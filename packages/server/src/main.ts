import { FleetError } from '@gpufleet/shared/core';
import { CommanderError } from 'commander';
import { createProgram } from './commands/program.ts';
import { startServer } from './commands/start.ts';
import { readConfig } from './config.ts';

const usageExit = 2;
const failedExit = 1;
/** Open requests and writes have this long after a signal; then the process ends anyway. */
const shutdownMs = 10_000;

const program = createProgram(async (flags) => {
  const starting = startServer(readConfig(flags, process.env), flags, process.getuid?.());
  let isStopping = false;
  // From the first moment on: whoever waits for the ready file may send a signal as soon as it is there.
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      // Asked twice: somebody is in a hurry.
      if (isStopping) process.exit(failedExit);
      isStopping = true;
      setTimeout(() => process.exit(failedExit), shutdownMs).unref();
      starting
        .then((server) => server.stop(signal))
        .then(
          () => process.exit(0),
          (error) => fail(error),
        );
    });
  await starting;
});

/** An operational failure is one line that says what to do; a bug keeps its stack. */
function fail(error: unknown): never {
  if (error instanceof FleetError) {
    process.stderr.write(`gpufleet-server: ${error.message}\n`);
    process.exit(error.code === 'bad_config' ? usageExit : failedExit);
  }
  process.stderr.write(`gpufleet-server: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(failedExit);
}

process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  // Commander has printed help, version or what was wrong with the usage.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : usageExit);
  fail(error);
}
