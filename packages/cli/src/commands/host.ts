import { FactChange, FactDifferences, FactEntry, Host, HostFinding, Job } from '@gpufleet/shared/api';
import { Command } from 'commander';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { CliError, exitCodes } from '../exit.ts';
import { ago, dash, type Output, params, print, renderTable } from '../output.ts';
import { findHost } from './find-host.ts';
import { findingLines } from './finding.ts';
import { type HostFilterOptions, hostFilterQuery, withHostFilter } from './host-filter.ts';
import { parseWhen } from './parse-when.ts';

function worst(host: Host): string {
  const [severity, count] = Object.entries(host.findings).find(([, n]) => n > 0) ?? [];
  return severity === undefined ? 'ok' : `${count} ${severity}`;
}

function hostTable(hosts: Host[], output: Output): string {
  const rows = hosts.map((host) => [
    host.name,
    host.siteId,
    host.status === 'accepted' ? (host.online ? 'online' : 'offline') : host.status,
    worst(host),
    dash(host.class.gpuModel && `${host.class.gpuCount ?? '?'}× ${host.class.gpuModel}`),
    dash(host.class.driverVersion),
    dash([host.class.runtime, host.class.runtimeVersion].filter(Boolean).join(' ')),
    dash(host.class.mig),
    ago(host.lastSeenAtMs, output.nowMs()),
    host.id,
  ]);
  return renderTable(['HOST', 'SITE', 'STATE', 'FINDINGS', 'GPUS', 'DRIVER', 'RUNTIME', 'MIG', 'SEEN', 'ID'], rows);
}

function hostPage(host: Host, findings: HostFinding[], jobs: Job[], output: Output): string {
  const labels = Object.entries(host.labels).map(([key, value]) => `${key}=${value}`);
  const lines = [
    `${host.name}  ${host.id}  site ${host.siteId}`,
    `state     ${host.status}, ${host.online ? 'online' : `offline, seen ${ago(host.lastSeenAtMs, output.nowMs())}`}${host.statusReason ? ` (${host.statusReason})` : ''}`,
    `gpus      ${dash(host.class.gpuModel && `${host.class.gpuCount ?? '?'}× ${host.class.gpuModel}`)}, driver ${dash(host.class.driverVersion)}, MIG ${dash(host.class.mig)}`,
    `runtime   ${dash(host.class.runtime)} ${host.class.runtimeVersion ?? ''}${host.class.kubernetesRole ? `, Kubernetes ${host.class.kubernetesRole}` : ''}`,
    `agent     ${host.agentVersion}, clock off by ${dash(host.clockSkewMs)} ms`,
    `labels    ${labels.join(', ') || '-'}`,
    '',
    findings.length === 0 ? 'no open findings' : 'open findings',
    ...findings.flatMap(findingLines),
  ];
  if (jobs.length > 0) {
    lines.push(
      '',
      'latest jobs',
      ...jobs.map(
        (job) =>
          `  ${job.id}  ${job.request.kind} ${params(job.request.params)}  ${job.state}${job.waiting ? `: waits, ${job.waiting.detail}` : ''}`,
      ),
    );
  }
  return lines.join('\n');
}

interface ShowOptions {
  facts: boolean;
  history: boolean;
  changedSince?: string;
  output: string;
}

function differencesText({ sinceMs, knownSinceMs, differences }: FactDifferences): string {
  const rows = differences.map(({ name, path, before, after, changes, lastAtMs }) => [
    `${name}.${path}`,
    JSON.stringify(before),
    JSON.stringify(after),
    String(changes),
    new Date(lastAtMs).toISOString(),
  ]);
  const gap = knownSinceMs === null ? [] : [`(the history begins at ${new Date(knownSinceMs).toISOString()})`];
  if (rows.length === 0) return [`nothing is different since ${new Date(sinceMs).toISOString()}`, ...gap].join('\n');
  return [renderTable(['FACT', 'BEFORE', 'NOW', 'CHANGES', 'LAST'], rows), ...gap].join('\n');
}

export function hostCommand(context: Context): Command {
  const command = new Command('host').description('hosts, what they are and what is wrong with them');
  withHostFilter(command.command('list'))
    .description('hosts, by filters')
    .option('--severity <severities>', 'hosts with an open finding of these severities, comma-separated')
    .option('--finding <code>', 'hosts with this open finding')
    .option('--status <status>', 'pending, accepted, rejected, quarantined or decommissioned')
    .option('--online', 'only hosts that are connected')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet host list --finding CONTAINERD_RUNTIME_NOT_CONFIGURED')
    .action(
      async (
        options: HostFilterOptions & {
          severity?: string;
          finding?: string;
          status?: string;
          online?: boolean;
          output: string;
        },
      ) => {
        const output = context.output(options);
        const { severity, finding, status, online } = options;
        const query = { ...hostFilterQuery(options), severity, finding, status, online };
        print(output, await context.client().list(Host, '/hosts', query, 100_000), (hosts) => hostTable(hosts, output));
      },
    );
  command
    .command('show')
    .description('one host: class, findings, latest jobs; --facts, --history')
    .argument('<host>', 'name or id')
    .option('--facts', 'every fact that it reported', false)
    .option('--history', 'what changed in its facts, newest first', false)
    .option('--changed-since <moment>', 'what is different since then: 2d, tuesday, 2026-11-24 …')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet host show host-1 --changed-since tuesday')
    .action(async (name: string, options: ShowOptions) => {
      const output = context.output(options);
      const client = context.client();
      const host = await findHost(client, name);
      if (options.facts) {
        const facts = await client.list(FactEntry, `/hosts/${host.id}/facts`, {}, 1000);
        return print(output, facts, (all) =>
          all
            .map(
              (fact) =>
                `── ${fact.name} (received ${ago(fact.receivedAtMs, output.nowMs())})\n${JSON.stringify(fact.body, null, 2)}`,
            )
            .join('\n'),
        );
      }
      if (options.changedSince !== undefined) {
        const since = parseWhen(options.changedSince, output.nowMs());
        return print(
          output,
          await client.get(FactDifferences, `/hosts/${host.id}/differences`, { since }),
          differencesText,
        );
      }
      if (options.history) {
        const changes = await client.list(FactChange, `/hosts/${host.id}/history`, {}, 1000);
        const rows = (all: FactChange[]) =>
          all.map((change) => [
            new Date(change.atMs).toISOString(),
            `${change.name}.${change.path}`,
            JSON.stringify(change.before),
            JSON.stringify(change.after),
          ]);
        return print(output, changes, (all) => renderTable(['WHEN', 'FACT', 'BEFORE', 'AFTER'], rows(all)));
      }
      const findings = await client.list(HostFinding, '/findings', { host: host.id }, 500);
      const jobs = await client.list(Job, `/hosts/${host.id}/jobs`, {}, 5);
      return print(output, { host, findings, jobs }, () => hostPage(host, findings, jobs, output));
    });
  command
    .command('label')
    .description('set labels (key=value) or take them away (key-)')
    .argument('<host>', 'name or id')
    .argument('<labels...>')
    .addHelpText('after', '\nExample:\n  gpufleet host label host-1 env=prod lab-')
    .action(async (name: string, labels: string[]) => {
      const client = context.client();
      const host = await findHost(client, name);
      const updated = await client.send(
        Host,
        'PATCH',
        `/hosts/${host.id}`,
        { labelChanges: Object.fromEntries(labels.map(labelChange)) },
        { headers: { 'if-match': `"${host.version}"` } },
      );
      const all = Object.entries(updated.labels).map(([key, value]) => `${key}=${value}`);
      context.output({}).out(`${host.name}: ${all.join(', ') || 'no labels'}\n`);
    });
  command
    .command('move')
    .description('move a host to another site, with its labels and history')
    .argument('<host>', 'name or id')
    .argument('<site>', 'id of the site')
    .addHelpText('after', '\nExample:\n  gpufleet host move host-1 site-b')
    .action(async (name: string, siteId: string) => {
      const client = context.client();
      const host = await findHost(client, name);
      const moved = await client.send(
        Host,
        'PATCH',
        `/hosts/${host.id}`,
        { siteId },
        { headers: { 'if-match': `"${host.version}"` } },
      );
      context.output({}).out(`${moved.name}: ${host.siteId} → ${moved.siteId}\n`);
    });
  for (const [verb, path, description] of [
    ['accept', 'accept', 'let a pending host in'],
    ['reject', 'reject', 'turn a pending host away'],
    ['remove', 'decommission', 'decommission a host: its key is void at once, its history stays'],
    ['release', 'lift-quarantine', 'lift the quarantine of a host that a person has looked at'],
  ] as const) {
    command
      .command(verb)
      .description(description)
      .argument('<host>', 'name or id')
      .requiredOption('--reason <text>', 'why; kept in the audit log')
      .action(async (name: string, options: { reason: string }) => {
        const client = context.client();
        const host = await findHost(client, name);
        await client.send(z.unknown(), 'POST', `/hosts/${host.id}/${path}`, { reason: options.reason });
        context.output({}).out(`${host.name}: ${path} done\n`);
      });
  }
  return command;
}

/** `key=value` sets, `key-` removes. */
export function labelChange(text: string): [string, string | null] {
  const set = /^([^=]+)=(.*)$/.exec(text);
  if (set?.[1] !== undefined) return [set[1], set[2] ?? ''];
  if (/^.+-$/.test(text)) return [text.slice(0, -1), null];
  throw new CliError(exitCodes.usage, `${text}: a label is key=value, or key- to take it away`);
}
