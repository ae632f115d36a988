import { printable } from '@gpufleet/shared/api';
import { CommanderError } from 'commander';
import { createContext } from './context.ts';
import { CliError, exitCodes } from './exit.ts';
import { buildProgram } from './program.ts';

interface Streams {
  out(text: string): void;
  err(text: string): void;
}

/** Runs one command line and returns its exit code. Never throws for what a user or a server may do. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv, terminal: Streams): Promise<number> {
  const streams: Streams = {
    out: (text) => terminal.out(printable(text)),
    err: (text) => terminal.err(printable(text)),
  };
  const program = buildProgram(createContext(env, streams));
  for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
    command.configureOutput({ writeOut: streams.out, writeErr: streams.err });
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCodes.fine;
  } catch (error) {
    // Help and --version end by an "error" with exit code 0; a group called without a command shows its help: usage.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
    if (!(error instanceof CliError)) throw error;
    streams.err(`gpufleet: ${error.message}\n`);
    return error.exitCode;
  }
}
