import { Rollout, RolloutPlan, Slot, Wave } from '@gpufleet/shared/api';
import { Command } from 'commander';
import { parse } from 'yaml';
import type { Client } from '../client.ts';
import type { Context } from '../context.ts';
import { CliError, exitCodes } from '../exit.ts';
import { reasonOf } from '../login-file.ts';
import { print } from '../output.ts';
import { readText } from '../read-text.ts';
import { findRollout } from './find-rollout.ts';
import { planText, rolloutsTable, rolloutText } from './rollout-text.ts';
import { watchRollout } from './watch-rollout.ts';

const maxSpecBytes = 1024 * 1024;

function readSpec(path: string): unknown {
  try {
    return parse(readText(path, maxSpecBytes), { maxAliasCount: 20 });
  } catch (cause) {
    throw new CliError(exitCodes.usage, `could not read the rollout in ${path}: ${reasonOf(cause)}`, { cause });
  }
}

function parseDisposition(text: string, all: Record<string, string> = {}): Record<string, string> {
  const [, slot, disposition] = /^(.+)=(retry|accept)$/.exec(text) ?? [];
  if (slot === undefined || disposition === undefined)
    throw new CliError(exitCodes.usage, `${text}: HOST=retry or HOST=accept`);
  return { ...all, [slot]: disposition };
}

export function rolloutCommand(context: Context): Command {
  const command = new Command('rollout').description('repairs over many hosts: canary, waves, gates, budgets');
  const withFormat = (name: string, description: string) =>
    command.command(name).description(description).option('-o, --output <format>', 'table, json or yaml', 'table');

  withFormat('plan', 'what a rollout would do, without making it')
    .requiredOption('-f, --file <file>', 'rollout as YAML or JSON; - reads standard input')
    .addHelpText('after', '\nExample:\n  gpufleet rollout plan -f fix-containerd.yaml')
    .action(async (options: { file: string; output: string }) => {
      const output = context.output(options);
      print(
        output,
        await context
          .client()
          .send(RolloutPlan, 'POST', '/rollouts', readSpec(options.file), { query: { dryRun: true } }),
        planText,
      );
    });
  withFormat('create', 'make a rollout; it does nothing before approve and start')
    .requiredOption('-f, --file <file>', 'rollout as YAML or JSON; - reads standard input')
    .option('--approve', 'approve the plan just made', false)
    .option('--start', 'and start it', false)
    .option('--idempotency-key <key>', 'the same key makes the same rollout once')
    .action(
      async (options: { file: string; approve: boolean; start: boolean; idempotencyKey?: string; output: string }) => {
        const output = context.output(options);
        const client = context.client();
        const headers: Record<string, string> =
          options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
        let rollout = await client.send(Rollout, 'POST', '/rollouts', readSpec(options.file), { headers });
        if (options.approve || options.start) rollout = await approve(client, rollout);
        if (options.start) rollout = await client.send(Rollout, 'POST', `/rollouts/${rollout.id}/start`, {});
        print(output, rollout, () => `${rollout.id} ${rollout.name}: ${rollout.state}`);
      },
    );
  withFormat('list', 'rollouts, newest first').action(async (options: { output: string }) => {
    const output = context.output(options);
    print(output, await context.client().list(Rollout, '/rollouts', {}, 1000), (all) => rolloutsTable(all, output));
  });
  withFormat('show', 'one rollout: waves, and for each slot why it waits or failed; --plan shows the plan')
    .argument('<rollout>', 'name or id')
    .option('--plan', 'the plan that was approved', false)
    .action(async (name: string, options: { plan: boolean; output: string }) => {
      const output = context.output(options);
      const client = context.client();
      const rollout = await findRollout(client, name);
      if (options.plan) return print(output, await client.get(RolloutPlan, `/rollouts/${rollout.id}/plan`), planText);
      if (output.format === 'yaml') return print(output, rollout.spec, () => '');
      const waves = await client.list(Wave, `/rollouts/${rollout.id}/waves`, {}, 1000);
      const slots = await client.list(Slot, `/rollouts/${rollout.id}/slots`, {}, 100_000);
      return print(output, { rollout, waves, slots }, () => rolloutText(rollout, waves, slots, output));
    });
  command
    .command('watch')
    .description('follow a rollout until it ends or halts; exit 0 when it succeeded, 1 when not')
    .argument('<rollout>', 'name or id')
    .option('--timeout <duration>', 'give up after this long, exit 3', '24h')
    .action((name: string, options: { timeout: string }) => watchRollout(context, name, options.timeout));
  withFormat('approve', 'approve the plan as it stands')
    .argument('<rollout>', 'name or id')
    .option('--plan-hash <hash>', 'refuse when the plan is another one by now')
    .action(async (name: string, options: { planHash?: string; output: string }) => {
      const output = context.output(options);
      const client = context.client();
      const rollout = await approve(client, await findRollout(client, name), options.planHash);
      print(output, rollout, () => `${rollout.name}: ${rollout.state}`);
    });
  withFormat('start', 'start an approved rollout')
    .argument('<rollout>', 'name or id')
    .action(async (name: string, options: { output: string }) => {
      const output = context.output(options);
      const client = context.client();
      const { id } = await findRollout(client, name);
      print(
        output,
        await client.send(Rollout, 'POST', `/rollouts/${id}/start`, {}),
        (rollout) => `${rollout.name}: ${rollout.state}`,
      );
    });
  for (const [verb, description] of [
    ['pause', 'grant nothing more; what runs finishes'],
    ['cancel', 'end it: what waits is canceled, what runs stops at its next safe point'],
    ['pass-gate', 'let a wave that waits at a manual gate pass'],
  ] as const) {
    withFormat(verb, description)
      .argument('<rollout>', 'name or id')
      .requiredOption('--reason <text>', 'why; kept in the audit log')
      .action(async (name: string, options: { reason: string; output: string }) => {
        const output = context.output(options);
        const client = context.client();
        const { id } = await findRollout(client, name);
        print(
          output,
          await client.send(Rollout, 'POST', `/rollouts/${id}/${verb}`, { reason: options.reason }),
          (rollout) => `${rollout.name}: ${rollout.state}`,
        );
      });
  }
  withFormat('resume', 'go on after a pause; after a halt each failed slot needs retry or accept')
    .argument('<rollout>', 'name or id')
    .requiredOption('--reason <text>', 'why; kept in the audit log')
    .option('--retry', 'a new attempt for every failed slot that is not named', false)
    .option('--accept', 'leave every failed slot that is not named out of the count', false)
    .option('--slot <host=what>', 'HOST=retry or HOST=accept; repeat it for more', parseDisposition, {})
    .addHelpText(
      'after',
      '\nExample:\n  gpufleet rollout resume fix-containerd --reason "disk replaced" --slot host-7=retry',
    )
    .action(
      async (
        name: string,
        options: { reason: string; retry: boolean; accept: boolean; slot: Record<string, string>; output: string },
      ) => {
        const output = context.output(options);
        if (options.retry && options.accept) throw new CliError(exitCodes.usage, 'give one of --retry and --accept');
        const client = context.client();
        const { id } = await findRollout(client, name);
        const dispositions = Object.entries(options.slot).map(([slot, disposition]) => ({ slot, disposition }));
        const disposition = options.retry ? 'retry' : options.accept ? 'accept' : undefined;
        print(
          output,
          await client.send(Rollout, 'POST', `/rollouts/${id}/resume`, {
            reason: options.reason,
            dispositions,
            disposition,
          }),
          (rollout) => `${rollout.name}: ${rollout.state}`,
        );
      },
    );
  return command;
}

async function approve(client: Client, rollout: Rollout, planHash = rollout.planHash): Promise<Rollout> {
  return client.send(Rollout, 'POST', `/rollouts/${rollout.id}/approve`, { planHash });
}
