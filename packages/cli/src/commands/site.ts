import { Site } from '@gpufleet/shared/api';
import { Command } from 'commander';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { dash, print, renderTable } from '../output.ts';
import { type SiteOptions, siteChange, sitePage } from './site-change.ts';

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
    .command('show')
    .description('one site: time zone, window, freezes')
    .argument('<id>')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet site show site-a')
    .action(async (id: string, options: { output: string }) => {
      const output = context.output(options);
      print(output, await context.client().get(Site, `/sites/${encodeURIComponent(id)}`), sitePage);
    });
  command
    .command('update')
    .description('change what is named of a site')
    .argument('<id>')
    .option('--timezone <zone>', 'IANA time zone that windows follow')
    .option('--name <text>', 'name for people; "" takes it away')
    .option('--window <when>', 'when rollouts may start work: "mon,tue 01:00-05:00", "01:00-05:00" or none')
    .option('--freeze <from..to=reason>', 'add a time in which nothing starts; repeat it for more', collect, [])
    .option('--clear-freezes', 'take the freezes away that are there', false)
    .option('--require-approval', 'new hosts wait for `gpufleet host accept`')
    .option('--no-require-approval', 'new hosts are let in by their token')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
Examples:
  gpufleet site update site-a --timezone Europe/Berlin --window "mon,tue 01:00-05:00"
  gpufleet site update site-a --freeze "2026-12-20T00:00:00Z..2027-01-02T00:00:00Z=end of year"
  gpufleet site update site-a --clear-freezes --window none --no-require-approval`,
    )
    .action(async (id: string, options: SiteOptions & { output: string }) => {
      const output = context.output(options);
      // What is wrong with the command line is said without asking the server.
      siteChange(options, []);
      const client = context.client();
      const path = `/sites/${encodeURIComponent(id)}`;
      const { freezes, version } = await client.get(Site, path);
      const change = siteChange(options, freezes);
      print(
        output,
        await client.send(Site, 'PATCH', path, change, { headers: { 'if-match': `"${version}"` } }),
        sitePage,
      );
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

function collect(text: string, all: string[]): string[] {
  return [...all, text];
}
