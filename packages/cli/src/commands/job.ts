import { Attempt, Job, JobPreview, jobKinds } from '@gpufleet/shared/api';
import { Command } from 'commander';
import type { Context } from '../context.ts';
import { CliError, exitCodes } from '../exit.ts';
import { ago, dash, type Output, params, print, renderTable } from '../output.ts';
import { findHost } from './find-host.ts';

/** `key=value`; the value is JSON where it parses as JSON, a list where it has commas, else text. */
export function parseParam(text: string, all: Record<string, unknown> = {}): Record<string, unknown> {
  const [, key, value] = /^([A-Za-z][A-Za-z0-9]*)=([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new CliError(exitCodes.usage, `${text}: a param is key=value`);
  return { ...all, [key]: parseValue(value) };
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: plain text, as most values are, or a list of it.
    return text.includes(',') ? text.split(',') : text;
  }
}

function previewText(preview: JobPreview): string {
  return [
    `${preview.outcome}${preview.outcome === 'plan' ? `: ${preview.disruption}, at most ${Math.round(preview.worstCaseMs / 1000)} s` : ''}`,
    ...preview.because.map(({ because, detail }) => `  because ${because}: ${detail}`),
    ...preview.steps.map((step) => `  step ${step}`),
    ...preview.holders.map((holder) => `  hits ${holder}`),
  ].join('\n');
}

function attemptText(attempt: Attempt, output: Output): string {
  const result = attempt.result;
  return [
    `attempt ${attempt.id}: ${result ? result.outcome : `${attempt.state}${attempt.phase ? `, ${attempt.phase}` : ''}`}`,
    ...(attempt.declinedBecause ?? []).map(({ because, detail }) => `  declined, ${because}: ${detail}`),
    ...(result?.because ?? []).map(({ because, detail }) => `  ${because}: ${detail}`),
    ...(result?.steps ?? []).map(({ title, state }) => `  step ${state.padEnd(11)} ${title}`),
    ...(result?.diffs ?? []).flatMap(({ path, diff }) => [
      `  ${path}`,
      ...diff.split('\n').map((line) => `    ${line}`),
    ]),
    ...(result ? [] : attempt.progress.map(({ atMs, text }) => `  ${ago(atMs, output.nowMs())}  ${text}`)),
  ].join('\n');
}

export function jobCommand(context: Context): Command {
  const command = new Command('job').description('single repairs on single hosts');
  command
    .command('list')
    .description('jobs, newest first')
    .option('--host <host>', 'name or id')
    .option('--state <state>')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { host?: string; state?: string; output: string }) => {
      const output = context.output(options);
      const client = context.client();
      const host = options.host === undefined ? undefined : (await findHost(client, options.host)).id;
      const rows = (jobs: Job[]) =>
        jobs.map((job) => [
          job.id,
          job.hostId,
          job.request.kind,
          params(job.request.params),
          job.state,
          dash(job.waiting?.detail),
          ago(job.createdAtMs, output.nowMs()),
          job.createdBy,
        ]);
      print(output, await client.list(Job, '/jobs', { host, state: options.state }, 1000), (jobs) =>
        renderTable(['ID', 'HOST', 'KIND', 'PARAMS', 'STATE', 'WAITS', 'MADE', 'BY'], rows(jobs)),
      );
    });
  command
    .command('show')
    .description('one job with its attempts: steps, reasons, diffs')
    .argument('<id>')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (id: string, options: { output: string }) => {
      const output = context.output(options);
      const client = context.client();
      const job = await client.get(Job, `/jobs/${encodeURIComponent(id)}`);
      const attempts = await Promise.all(
        job.attempts.map((attemptId) => client.get(Attempt, `/attempts/${attemptId}`)),
      );
      print(output, { job, attempts }, () =>
        [
          `${job.id}  ${job.request.kind} ${params(job.request.params)}  on ${job.hostId}  ${job.state}`,
          ...(job.waiting
            ? [`waits since ${ago(job.waiting.sinceMs, output.nowMs())}, ${job.waiting.because}: ${job.waiting.detail}`]
            : []),
          ...attempts.map((attempt) => attemptText(attempt, output)),
        ].join('\n'),
      );
    });
  command
    .command('create')
    .description('ask one host for one repair; --dry-run shows what it would do')
    .argument('<host>', 'name or id')
    .argument('<kind>', `one of ${jobKinds.join(', ')}`)
    .option('--param <key=value>', 'param of the kind; repeat it for more', parseParam, {})
    .option('--dry-run', 'plan only, from the last known facts', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText('after', '\nExample:\n  gpufleet job create host-1 configure_runtime --param runtime=docker --dry-run')
    .action(
      async (
        name: string,
        kind: string,
        options: { param: Record<string, unknown>; dryRun: boolean; output: string },
      ) => {
        const output = context.output(options);
        const client = context.client();
        const body = { hostId: (await findHost(client, name)).id, kind, params: options.param };
        if (options.dryRun) {
          const preview = await client.send(JobPreview, 'POST', '/jobs', body, { query: { dryRun: true } });
          print(output, preview, previewText);
          if (preview.outcome === 'blocked') throw new CliError(exitCodes.refused, 'blocked: see the reasons above');
          return;
        }
        const job = await client.send(Job, 'POST', '/jobs', body);
        print(output, job, () => `${job.id} ${job.state}: follow it with gpufleet job show ${job.id}`);
      },
    );
  command
    .command('cancel')
    .description('stop a job at its next safe point')
    .argument('<id>')
    .requiredOption('--reason <text>')
    .action(async (id: string, options: { reason: string }) => {
      const job = await context
        .client()
        .send(Job, 'POST', `/jobs/${encodeURIComponent(id)}/cancel`, { reason: options.reason });
      context.output({}).out(`${job.id} ${job.state}\n`);
    });
  return command;
}
