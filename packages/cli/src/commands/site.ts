import { Site } from '@gpufleet/shared/api';
import { Command } from 'commander';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { dash, print, renderTable } from '../output.ts';

function table(sites: Site[]): string {
  const rows = sites.map((site) => [
    site.id,
    site.timezone,
    String(site.hosts),
    String(site.online),
    site.requireApproval ? 'approve' : 'auto',
    dash(site.displayName),
  ]);
  return renderTable(['SITE', 'TIME ZONE', 'HOSTS', 'ONLINE', 'ENROLMENT', 'NAME'], rows);
}

export function siteCommand(context: Context): Command {
  const command = new Command('site').description('places with hosts');
  command
    .command('create')
    .description('add a site')
    .argument('<id>', 'small letters, digits and -')
    .option('--timezone <zone>', 'IANA time zone that windows follow', 'Etc/UTC')
    .option('--name <text>', 'name for people')
    .option('--require-approval', 'new hosts wait for `gpufleet host accept`', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet site create site-a --timezone Europe/Berlin')
    .action(
      async (id: string, options: { timezone: string; name?: string; requireApproval: boolean; output: string }) => {
        const output = context.output(options);
        const body = {
          id,
          timezone: options.timezone,
          displayName: options.name ?? null,
          requireApproval: options.requireApproval,
        };
        print(output, await context.client().send(Site, 'POST', '/sites', body), (site) => table([site]));
      },
    );
  command
    .command('list')
    .description('all sites with their hosts')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { output: string }) => {
      const output = context.output(options);
      print(output, await context.client().list(Site, '/sites', {}, 10_000), table);
    });
  command
    .command('remove')
    .description('remove a site that has no hosts')
    .argument('<id>')
    .action(async (id: string) => {
      await context.client().send(z.unknown(), 'DELETE', `/sites/${encodeURIComponent(id)}`);
      context.output({}).out(`site ${id} removed\n`);
    });
  return command;
}
