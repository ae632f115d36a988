import {
  ApiToken,
  CreatedApiToken,
  CreatedEnrollmentToken,
  EnrollmentToken,
  parseDuration,
} from '@gpufleet/shared/api';
import { Command } from 'commander';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { CliError, exitCodes } from '../exit.ts';
import { dash, print, renderTable } from '../output.ts';

export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new CliError(exitCodes.usage, `${text} is no duration: a number and s, m, h or d, e.g. 90s, 24h`);
  return ms;
}

export function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new CliError(exitCodes.usage, `${text} is no whole number`);
  return Number(text);
}

function when(atMs: number | null): string {
  return atMs === null ? 'never' : new Date(atMs).toISOString();
}

export function tokenCommand(context: Context): Command {
  const command = new Command('token').description(
    'tokens that let hosts enrol, and API tokens for people and programs',
  );
  command
    .command('create')
    .description('an enrolment token for a site (--site), or an API token (--role)')
    .option('--site <site>', 'enrolment token for this site')
    .option('--uses <n>', 'how many hosts may use it', count, 1)
    .option('--role <role>', 'API token with this role: viewer, operator or admin')
    .option('--name <name>', 'name of an API token')
    .option('--expires <duration>', 'how long it is good for; enrolment tokens 24h unless said otherwise')
    .option('-o, --output <format>', 'table (the token alone), json or yaml', 'table')
    .addHelpText(
      'after',
      '\nExamples:\n  gpufleet token create --site site-a --uses 20 --expires 2h > token\n  gpufleet token create --role viewer --name grafana',
    )
    .action(
      async (options: {
        site?: string;
        uses: number;
        role?: string;
        name?: string;
        expires?: string;
        output: string;
      }) => {
        const output = context.output(options);
        const expiresInMs = options.expires === undefined ? undefined : durationMs(options.expires);
        if ((options.site === undefined) === (options.role === undefined))
          throw new CliError(exitCodes.usage, 'give exactly one of --site and --role');
        if (options.site !== undefined) {
          const body = { siteId: options.site, uses: options.uses, expiresInMs };
          const created = await context.client().send(CreatedEnrollmentToken, 'POST', '/enrollment-tokens', body);
          output.err(
            `good for ${created.uses} host${created.uses === 1 ? '' : 's'} of ${created.siteId} until ${when(created.expiresAtMs)}; shown once\n`,
          );
          return print(output, created, ({ token }) => token);
        }
        if (options.name === undefined) throw new CliError(exitCodes.usage, 'an API token needs --name');
        const created = await context
          .client()
          .send(CreatedApiToken, 'POST', '/tokens', { name: options.name, role: options.role, expiresInMs });
        output.err(`API token ${created.name} (${created.role}), expires ${when(created.expiresAtMs)}; shown once\n`);
        return print(output, created, ({ token }) => token);
      },
    );
  command
    .command('list')
    .description('enrolment tokens, or API tokens with --api')
    .option('--api', 'API tokens', false)
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .action(async (options: { api: boolean; output: string }) => {
      const output = context.output(options);
      if (options.api) {
        const rows = (tokens: ApiToken[]) =>
          tokens.map((token) => [token.id, token.name, token.role, when(token.expiresAtMs), when(token.lastUsedAtMs)]);
        const tokens = await context.client().list(ApiToken, '/tokens', {}, 10_000);
        return print(output, tokens, (all) => renderTable(['ID', 'NAME', 'ROLE', 'EXPIRES', 'LAST USED'], rows(all)));
      }
      const tokens = await context.client().list(EnrollmentToken, '/enrollment-tokens', {}, 10_000);
      const rows = (all: EnrollmentToken[]) =>
        all.map((token) => [
          token.id,
          token.siteId,
          `${token.usesLeft}/${token.uses}`,
          when(token.expiresAtMs),
          token.revoked ? 'revoked' : '',
          dash(token.createdBy),
        ]);
      return print(output, tokens, (all) =>
        renderTable(['ID', 'SITE', 'USES LEFT', 'EXPIRES', 'STATE', 'BY'], rows(all)),
      );
    });
  command
    .command('revoke')
    .description('make a token useless at once')
    .argument('<id>')
    .option('--api', 'it is an API token', false)
    .action(async (id: string, options: { api: boolean }) => {
      await context
        .client()
        .send(z.unknown(), 'DELETE', `/${options.api ? 'tokens' : 'enrollment-tokens'}/${encodeURIComponent(id)}`);
      context.output({}).out(`token ${id} revoked\n`);
    });
  return command;
}
