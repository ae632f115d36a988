import { Command, Option } from 'commander';
import { version } from '../version.ts';

export interface StartFlags {
  host: string;
  port: string;
  database?: string;
  stateDir: string;
  logLevel: string;
  readyFile?: string;
  allowRoot: boolean;
  replaceSigningKey: boolean;
}

export function createProgram(start: (flags: StartFlags) => Promise<void>): Command {
  const program = new Command('gpufleet-server')
    .description('The control plane of gpufleet: REST API, agents’ gateway, rollouts, on one SQLite file.')
    .version(version)
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError();
  program
    .command('start')
    .description('Runs the server until SIGTERM.')
    .allowExcessArguments(false)
    .addOption(new Option('--host <address>', 'address to listen on').env('GPUFLEET_HOST').default('127.0.0.1'))
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 lets the system choose').env('GPUFLEET_PORT').default('8080'),
    )
    .addOption(
      new Option('--database <file>', 'SQLite file (default: fleet.db in the state folder)').env('GPUFLEET_DATABASE'),
    )
    .addOption(
      new Option('--state-dir <folder>', 'folder of the signing key and the first admin token')
        .env('GPUFLEET_STATE_DIR')
        .default('/var/lib/gpufleet-server'),
    )
    .addOption(
      new Option('--log-level <level>', 'least level that is logged')
        .env('GPUFLEET_LOG_LEVEL')
        .choices(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
        .default('info'),
    )
    .addOption(
      new Option('--ready-file <file>', 'JSON with url and pid, written when the server is ready').env(
        'GPUFLEET_READY_FILE',
      ),
    )
    .addOption(
      new Option('--allow-root', 'run although the user is root, e.g. in a container')
        .env('GPUFLEET_ALLOW_ROOT')
        .default(false),
    )
    // No variable of the environment: said once, by a person.
    .option('--replace-signing-key', 'go on with another signing key: every host must then enrol anew', false)
    .addHelpText(
      'after',
      `
Tuning, by environment only: GPUFLEET_HEARTBEAT_EVERY_MS, GPUFLEET_OFFLINE_AFTER_MS, GPUFLEET_RECONCILE_AFTER_MS,
GPUFLEET_TICK_EVERY_MS, GPUFLEET_TICKET_TTL_MS, GPUFLEET_GRANT_TTL_MS, GPUFLEET_KEEP_EVENTS, GPUFLEET_KEEP_FACT_CHANGES,
GPUFLEET_KEEP_CLEARED_FINDINGS_DAYS, GPUFLEET_KEEP_AUDIT_DAYS, GPUFLEET_KEEP_JOBS_DAYS

Examples:
  gpufleet-server start --state-dir /var/lib/gpufleet-server
  gpufleet-server start --port 0 --state-dir ./state --ready-file ./ready.json`,
    )
    .action(start);
  return program;
}
