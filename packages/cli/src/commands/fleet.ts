import { FleetSummary, HostFactChange, type Variant } from '@gpufleet/shared/api';
import { Command } from 'commander';
import type { Context } from '../context.ts';
import { dash, print, renderTable } from '../output.ts';
import { type HostFilterOptions, hostFilterQuery, withHostFilter } from './host-filter.ts';
import { parseCount } from './parse-count.ts';
import { parseWhen } from './parse-when.ts';

export function fleetCommand(context: Context): Command {
  const command = new Command('fleet').description('the fleet as a whole: what it is made of, what changed');
  withHostFilter(command.command('summary'))
    .description('which variants of hosts there are and how many of each, and what is wrong')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExamples:\n  gpufleet fleet summary\n  gpufleet fleet summary --site site-a --mig enabled')
    .action(async (options: HostFilterOptions & { output: string }) => {
      const output = context.output(options);
      print(output, await context.client().get(FleetSummary, '/fleet', hostFilterQuery(options)), summaryText);
    });
  withHostFilter(command.command('changes'))
    .description('what changed in the facts of hosts, newest first')
    .option('--since <moment>', '2d, yesterday, tuesday, 2026-11-24 …', '1d')
    .option('--fact <name>', 'only this fact: driver, containerd …')
    .option('--path <path>', 'only values whose path begins so: value.loadedVersion')
    .option('--limit <count>', 'at most so many', '200')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet fleet changes --since tuesday --fact driver')
    .action(
      async (
        options: HostFilterOptions & { since: string; fact?: string; path?: string; limit: string; output: string },
      ) => {
        const output = context.output(options);
        const since = parseWhen(options.since, output.nowMs());
        const query = { ...hostFilterQuery(options), since, fact: options.fact, path: options.path };
        const changes = await context.client().list(HostFactChange, '/fleet/changes', query, parseCount(options.limit));
        print(output, changes, (all) =>
          renderTable(['WHEN', 'HOST', 'SITE', 'FACT', 'BEFORE', 'AFTER'], all.map(toRow)),
        );
      },
    );
  return command;
}

function toRow({ atMs, hostName, siteId, name, path, before, after }: HostFactChange): string[] {
  const when = new Date(atMs).toISOString();
  return [when, hostName, siteId, `${name}.${path}`, JSON.stringify(before), JSON.stringify(after)];
}

function summaryText({ hosts, variants, moreVariants, findings }: FleetSummary): string {
  const states = Object.entries(hosts.byStatus).map(([status, count]) => `${count} ${status}`);
  const open = Object.entries(findings.bySeverity).filter(([, count]) => count > 0);
  return [
    `${hosts.total} hosts, ${hosts.online} online (${states.join(', ') || 'none'})`,
    `open findings: ${open.map(([severity, count]) => `${count} ${severity}`).join(', ') || 'none'}`,
    '',
    renderTable(
      ['HOSTS', 'SITES', 'PLATFORM', 'GPUS', 'DRIVER', 'RUNTIME', 'TOOLKIT', 'MIG', 'OS'],
      variants.map(({ variant, hosts: count, sites }) => [String(count), String(sites), ...variantCells(variant)]),
    ),
    ...(moreVariants > 0 ? [`… and ${moreVariants} more variants`] : []),
    ...(findings.byCode.length > 0
      ? [
          '',
          renderTable(
            ['HOSTS', 'SEVERITY', 'CODE'],
            findings.byCode.map(({ code, severity, hosts: count }) => [String(count), severity, code]),
          ),
        ]
      : []),
  ].join('\n');
}

function variantCells(variant: Variant): string[] {
  return [
    dash(variant.platform),
    dash(variant.gpuModel && `${variant.gpuCount ?? '?'}× ${variant.gpuModel}`),
    dash(variant.driverVersion),
    dash([variant.runtime, variant.runtimeVersion].filter(Boolean).join(' ')),
    dash(variant.toolkitVersion),
    dash(variant.mig),
    dash(variant.l4t ? `${variant.os ?? ''} L4T ${variant.l4t}`.trim() : variant.os),
  ];
}
