import { FindingStory, HostFinding } from '@gpufleet/shared/api';
import { Command } from 'commander';
import type { Context } from '../context.ts';
import { ago, params, print, renderTable } from '../output.ts';
import { type HostFilterOptions, hostFilterQuery, withHostFilter } from './host-filter.ts';

/** A finding as a person reads it: what, the proof, the way out. */
export function findingLines(finding: HostFinding): string[] {
  const remedy = finding.remedy?.jobs.map((job) => `${job.kind} ${params(job.params)}`).join(', then ');
  return [
    `  ${finding.severity.toUpperCase()} ${finding.code}${finding.subject ? ` (${finding.subject})` : ''}`,
    `    ${finding.summary}`,
    ...finding.evidence.map(({ source, quote }) => `    | ${source}: ${quote}`),
    ...(remedy ? [`    remedy: ${remedy} (${finding.remedy?.approval})`] : []),
    ...(finding.person ? [`    a person must: ${finding.person}`] : []),
    ...(finding.consequenceOf ? [`    consequence of ${finding.consequenceOf.code}`] : []),
  ];
}

export function findingCommand(context: Context): Command {
  const command = new Command('finding').description('what is wrong, over all hosts');
  withHostFilter(command.command('list'))
    .description('open findings, or --state cleared|all; --group counts hosts by code')
    .option('--code <code>')
    .option('--severity <severities>', 'comma-separated: blocker, critical, degraded, warning, info')
    .option('--state <state>', 'open, cleared or all', 'open')
    .option('--group', 'one line for each code', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      '\nExamples:\n  gpufleet finding list --group\n  gpufleet finding list --severity blocker,critical -o json',
    )
    .action(
      async (
        options: HostFilterOptions & {
          code?: string;
          severity?: string;
          state: string;
          group: boolean;
          output: string;
        },
      ) => {
        const output = context.output(options);
        const { code, severity, state } = options;
        const query = { ...hostFilterQuery(options), code, severity, state };
        const findings = await context.client().list(HostFinding, '/findings', query, 100_000);
        if (options.group)
          return print(output, groupByCode(findings), (groups) =>
            renderTable(
              ['CODE', 'SEVERITY', 'HOSTS', 'SITES', 'REMEDY'],
              groups.map((g) => [g.code, g.severity, String(g.hosts), g.sites.join(','), g.remedy]),
            ),
          );
        const rows = (all: HostFinding[]) =>
          all.map((f) => [
            f.hostName,
            f.siteId,
            f.severity,
            f.code,
            f.clearedAtMs === null
              ? ago(f.openedAtMs, output.nowMs())
              : `cleared ${ago(f.clearedAtMs, output.nowMs())}`,
            f.openedCount > 1 ? `${f.openedCount}×` : '-',
            f.summary,
            f.id,
          ]);
        return print(output, findings, (all) =>
          renderTable(['HOST', 'SITE', 'SEVERITY', 'CODE', 'SINCE', 'CAME', 'SUMMARY', 'ID'], rows(all)),
        );
      },
    );
  command
    .command('show')
    .description('one finding over time: when it opened, cleared and came back')
    .argument('<id>', 'as finding list gives it')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (id: string, options: { output: string }) => {
      const output = context.output(options);
      const story = await context.client().get(FindingStory, `/findings/${encodeURIComponent(id)}`);
      print(output, story, storyText);
    });
  return command;
}

function storyText(story: FindingStory): string {
  const turns = story.turns.map(({ atMs, turn, severity }) => [
    new Date(atMs).toISOString(),
    turn === 'severity' ? `became ${severity}` : turn,
    severity,
  ]);
  return [
    `${story.hostName}  site ${story.siteId}  opened ${story.openedCount} time(s)`,
    ...findingLines(story),
    '',
    renderTable(['WHEN', 'TURN', 'SEVERITY'], turns),
  ].join('\n');
}

function groupByCode(findings: HostFinding[]) {
  const byCode = new Map<string, HostFinding[]>();
  for (const finding of findings) byCode.set(finding.code, [...(byCode.get(finding.code) ?? []), finding]);
  return [...byCode].map(([code, group]) => ({
    code,
    severity: group[0]?.severity ?? '',
    hosts: new Set(group.map(({ hostId }) => hostId)).size,
    sites: [...new Set(group.map(({ siteId }) => siteId))].sort(),
    remedy: group[0]?.remedy?.jobs.map(({ kind }) => kind).join(', ') ?? 'a person',
  }));
}
