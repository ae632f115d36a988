import { type Rollout, Slot, Wave } from '@gpufleet/shared/api';
import type { Client } from '../client.ts';
import type { Context } from '../context.ts';
import { CliError, exitCodes } from '../exit.ts';
import { findRollout } from './find-rollout.ts';
import { durationMs } from './token.ts';

const pollMs = 1_000;
const good = ['succeeded'];
const ended = [...good, 'completed_with_exceptions', 'canceled', 'rolled_back', 'rejected', 'stale', 'superseded'];

/** What a watcher has seen: lines are printed only for what changed. */
type Seen = Map<string, string>;

/** Lines for what is new since the last look; `seen` is brought up to date. */
export function changes(seen: Seen, rollout: Rollout, waves: Wave[], slots: Slot[]): string[] {
  const now: [key: string, line: string][] = [
    [
      'rollout',
      `rollout ${rollout.name}: ${rollout.state}${rollout.because ? ` — ${rollout.because.because}: ${rollout.because.detail}` : ''}`,
    ],
    ...waves
      .filter(({ state }) => state !== 'pending')
      .map((wave): [string, string] => [`wave ${wave.index}`, `wave ${wave.index} ${wave.name}: ${wave.state}`]),
    ...slots
      .filter(({ state }) => state !== 'queued')
      .map((slot): [string, string] => [
        slot.id,
        `  ${slot.hostName} (${slot.siteId}): ${slot.state}${slot.waiting ? `, ${slot.waiting.detail}` : ''}`,
      ]),
  ];
  const fresh = now.filter(([key, line]) => seen.get(key) !== line);
  for (const [key, line] of fresh) seen.set(key, line);
  return fresh.map(([, line]) => line);
}

async function look(client: Client, rollout: Rollout, seen: Seen): Promise<string[]> {
  const waves = await client.list(Wave, `/rollouts/${rollout.id}/waves`, {}, 1000);
  const slots = await client.list(Slot, `/rollouts/${rollout.id}/slots`, {}, 100_000);
  return changes(seen, rollout, waves, slots);
}

export async function watchRollout(context: Context, name: string, timeout: string): Promise<void> {
  const output = context.output({});
  const client = context.client();
  const untilMs = output.nowMs() + durationMs(timeout);
  const seen: Seen = new Map();
  for (;;) {
    const rollout = await findRollout(client, name);
    for (const line of await look(client, rollout, seen)) output.out(`${line}\n`);
    if (good.includes(rollout.state)) return;
    if (ended.includes(rollout.state)) throw new CliError(exitCodes.bad, `the rollout ended as ${rollout.state}`);
    if (rollout.state === 'halted')
      throw new CliError(exitCodes.bad, `halted: ${rollout.because?.detail ?? 'see gpufleet rollout show'}`);
    if (output.nowMs() > untilMs) throw new CliError(exitCodes.cannotTell, `still ${rollout.state} after ${timeout}`);
    await context.sleep(pollMs);
  }
}
