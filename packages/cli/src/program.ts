import { Command } from 'commander';
import cliPackage from '../package.json' with { type: 'json' };
import { findingCommand } from './commands/finding.ts';
import { fleetCommand } from './commands/fleet.ts';
import { hostCommand } from './commands/host.ts';
import { jobCommand } from './commands/job.ts';
import { loginCommand } from './commands/login.ts';
import { rolloutCommand } from './commands/rollout.ts';
import { siteCommand } from './commands/site.ts';
import { auditCommand, stopCommand } from './commands/stop.ts';
import { tokenCommand } from './commands/token.ts';
import type { Context } from './context.ts';

export function buildProgram(context: Context): Command {
  const program = new Command('gpufleet')
    .description('gpufleet: from "the pod cannot see the GPU" to a verified repair on every site, in waves')
    .version(cliPackage.version)
    .addHelpText(
      'after',
      `
Examples:
  gpufleet login --server https://fleet.example.com --token-file admin-token
  gpufleet finding list --group
  gpufleet rollout plan -f fix-containerd.yaml

Exit codes: 0 fine, 1 the answer is bad, 2 usage, 3 could not tell (no answer), 4 refused or blocked`,
    );
  for (const make of [
    loginCommand,
    siteCommand,
    tokenCommand,
    hostCommand,
    findingCommand,
    fleetCommand,
    jobCommand,
    rolloutCommand,
    stopCommand,
    auditCommand,
  ]) {
    program.addCommand(make(context));
  }
  for (const command of [program, ...program.commands, ...program.commands.flatMap((group) => group.commands)]) {
    command.exitOverride().showHelpAfterError().allowExcessArguments(false);
  }
  return program;
}
