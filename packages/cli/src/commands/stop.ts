import { AuditEntry, StopResponse } from '@gpufleet/shared/api';
import { Command } from 'commander';
import type { Context } from '../context.ts';
import { print, renderTable } from '../output.ts';
import { parseCount } from './parse-count.ts';

export function stopCommand(context: Context): Command {
  return new Command('stop')
    .description('emergency stop: halt every rollout, cancel what runs at its next safe point')
    .requiredOption('--reason <text>', 'why; kept in the audit log')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { reason: string; output: string }) => {
      const output = context.output(options);
      const stopped = await context.client().send(StopResponse, 'POST', '/stop', { reason: options.reason });
      print(
        output,
        stopped,
        () =>
          `halted ${stopped.rolloutsHalted} rollouts, asked ${stopped.attemptsCanceled} running attempts to stop; each rollout goes on with gpufleet rollout resume`,
      );
    });
}

export function auditCommand(context: Context): Command {
  const command = new Command('audit').description('who changed what');
  command
    .command('list')
    .description('changes, newest first')
    .option('--limit <n>', 'how many', '50')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { limit: string; output: string }) => {
      const output = context.output(options);
      const entries = await context.client().list(AuditEntry, '/audit', {}, parseCount(options.limit));
      const rows = (all: AuditEntry[]) =>
        all.map((entry) => [new Date(entry.atMs).toISOString(), entry.actor, entry.action, entry.target]);
      print(output, entries, (all) => renderTable(['WHEN', 'WHO', 'DID', 'TO'], rows(all)));
    });
  return command;
}
