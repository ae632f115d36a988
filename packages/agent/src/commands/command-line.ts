import { FleetError, printable } from '@gpufleet/shared/core';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { agentVersion } from '../version.ts';
import { type Context, type ExitCode, exit, exitCodeOf, type Terminal } from './context.ts';

/** Runs one command line to its exit code. Every command's code is loaded when it is asked for, so `start` stays small. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exit.fine;
  const context: Context = {
    ...terminal,
    out: (text) => terminal.out(printable(text)),
    outPainted: terminal.out,
    err: (text) => terminal.err(printable(text)),
  };
  const program = describeCommands(context, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(args.length === 0 ? ['--help'] : args, { from: 'user' });
    return args.length === 0 ? exit.usage : code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 && args.length > 0 ? exit.fine : exit.usage;
    if (!(error instanceof FleetError)) throw error;
    context.err(`gpufleet-agent: ${error.message} (${error.code})\n`);
    return exitCodeOf(error.code);
  }
}

function describeCommands(context: Context, ends: (code: ExitCode) => void): Command {
  const program = new Command('gpufleet-agent')
    .description('Reads what is true on a GPU host, says what is wrong with it, and repairs it safely.')
    .version(agentVersion)
    .option('--state-dir <dir>', "the agent's own folder", context.environment.stateDir)
    .exitOverride()
    .showHelpAfterError('(gpufleet-agent --help shows every command)')
    .configureOutput({ writeOut: context.out, writeErr: context.err })
    .helpCommand(false);
  const stateDir = (): string => {
    const { stateDir: named } = program.opts<{ stateDir: string }>();
    // An empty variable in a script would make the working folder the agent's own.
    if (named === '') throw new FleetError('usage', '--state-dir is empty: name the folder');
    return named;
  };
  const command = (usage: string, description: string): Command =>
    program
      .command(usage)
      .description(description)
      .allowExcessArguments(false)
      .exitOverride()
      .showHelpAfterError()
      .configureOutput({ writeOut: context.out, writeErr: context.err });

  command('start', 'run as the agent of this host, until SIGTERM').action(async () => {
    const { start } = await import('./start.ts');
    ends(await start(context, { stateDir: stateDir() }));
  });

  command('enroll', 'make this host known to a control plane')
    .requiredOption('--server <url>', 'e.g. https://fleet.example.com')
    .requiredOption('--token-file <file>', 'file with the enrolment token, - for standard input')
    .option('--name <name>', "the host's name in the fleet (its host name)")
    .option('--label <key=value>', 'label of the host; may be repeated', collectLabel, {})
    .option('--replace', 'make a new key although this host is enrolled', false)
    .action(async (options: EnrollFlags) => {
      const { enrollCommand } = await import('./enroll.ts');
      const { label, ...rest } = options;
      ends(await enrollCommand(context, { ...rest, labels: label, stateDir: stateDir() }));
    });

  command('status', 'is the agent running, enrolled, connected, at work?')
    .option('--json', 'as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { statusCommand } = await import('./status.ts');
      ends(await statusCommand(context, { json, stateDir: stateDir() }));
    });

  withHost(command('doctor', 'say what is true of this host and what is wrong with it'))
    .option('--json', 'as JSON', false)
    .option('--verbose', 'show the facts and all evidence', false)
    .option('--no-color', 'without colours')
    .action(async ({ fault, color, ...options }: HostFlags & { json: boolean; verbose: boolean; color: boolean }) => {
      const { doctorCommand } = await import('./doctor.ts');
      ends(await doctorCommand(context, { ...options, faults: fault, color: color && context.environment.color }));
    });

  command('read <reader> <file>', 'read one tool output or config file (- for standard input)')
    .option('--json', 'as JSON', false)
    .action(async (reader: string, file: string, options: { json: boolean }) => {
      const { readCommand } = await import('./read.ts');
      ends(await readCommand(context, reader, file, options));
    });

  withHost(command('capture <dir>', 'record this host (or a simulated one) for tests and bug reports'), {
    recorded: false,
  }).action(async (dir: string, { fault, ...options }: HostFlags) => {
    const { captureCommand } = await import('./capture.ts');
    ends(await captureCommand(context, dir, { ...options, faults: fault }));
  });

  withHost(command('plan <kind>', 'show what a job would do; changes nothing'))
    .option('--param <key=value>', 'parameter of the job; may be repeated', collect, [])
    .option('--json', 'as JSON', false)
    .option('--write-to <dir>', 'write the resulting files below this folder')
    .action(async (kind: string, { fault, param, ...options }: HostFlags & PlanFlags) => {
      const { planCommand } = await import('./plan.ts');
      ends(await planCommand(context, { ...options, kind, params: param, faults: fault }));
    });

  command('run <kind>', 'carry out one job on this host; shows the plan and asks, unless --yes is given')
    .option('--param <key=value>', 'parameter of the job; may be repeated', collect, [])
    .option('--yes', 'do it', false)
    .option('--json', 'as JSON', false)
    .action(async (kind: string, { param, yes, json }: { param: string[]; yes: boolean; json: boolean }) => {
      const { runCommand } = await import('./run.ts');
      ends(await runCommand(context, { kind, params: param, yes, json, stateDir: stateDir() }));
    });

  command('history', 'the attempts of this host, oldest first')
    .option('--json', 'as JSON', false)
    .action(async ({ json }: { json: boolean }) => {
      const { historyCommand } = await import('./history.ts');
      ends(await historyCommand(context, { json, stateDir: stateDir() }));
    });

  command('undo <attempt>', 'a new attempt with the inverse of what the named one did')
    .option('--json', 'as JSON', false)
    .action(async (attemptId: string, { json }: { json: boolean }) => {
      const { undoCommand } = await import('./run.ts');
      ends(await undoCommand(context, attemptId, { json, stateDir: stateDir() }));
    });

  command('release', 'end the quarantine that a failed roll-back left, after a look at the host')
    .requiredOption('--reason <text>', 'what was found and done; kept in the history')
    .option('--json', 'as JSON', false)
    .action(async (options: { reason: string; json: boolean }) => {
      const { releaseCommand } = await import('./release.ts');
      ends(await releaseCommand(context, { ...options, stateDir: stateDir() }));
    });

  command('explain <kind>', 'what would be allowed on this host')
    .option('--json', 'as JSON', false)
    .action(async (kind: string, options: { json: boolean }) => {
      const { explainCommand } = await import('./explain.ts');
      ends(await explainCommand(context, kind, options));
    });

  command('inputs', 'every file and command that the probes read')
    .option('--json', 'as JSON', false)
    .action(async (options: { json: boolean }) => {
      const { inputsCommand } = await import('./inputs.ts');
      ends(await inputsCommand(context, options));
    });

  // gpufleet-mig.service runs it: no person needs it.
  program.command('apply-mig-layout', { hidden: true }).action(async () => {
    const { applyMigLayoutCommand } = await import('./apply-mig-layout.ts');
    ends(await applyMigLayoutCommand(context));
  });

  command('version', 'the version of this program').action(() => context.out(`${agentVersion}\n`));
  return program;
}

interface EnrollFlags {
  server: string;
  tokenFile: string;
  name?: string;
  label: Record<string, string>;
  replace: boolean;
}

interface HostFlags {
  host?: string;
  simulated?: string;
  fault: string[];
}

interface PlanFlags {
  param: string[];
  json: boolean;
  writeTo?: string;
}

function withHost(command: Command, { recorded } = { recorded: true }): Command {
  if (recorded) command.option('--host <dir>', 'a recorded host instead of this machine');
  return command
    .option('--simulated <class>', 'a simulated host of this class instead of this machine')
    .option('--fault <fault>', 'fault of the simulated host; may be repeated', collect, []);
}

function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

function collectLabel(value: string, earlier: Record<string, string>): Record<string, string> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected key=value');
  return { ...earlier, [value.slice(0, at)]: value.slice(at + 1) };
}
