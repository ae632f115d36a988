import { z } from 'zod';
import type { JetsonFact, PowerMode } from '../../probes/jetson/fact.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { blocked, noop, reason, rebootTimeoutMs } from '../plan-parts.ts';
import { downSince } from '../reboot-host/plan.ts';
import type { Plan, Step } from '../step.ts';

export const SetPowerModeParams = z.strictObject({
  /** Number or name in the board's own table: 0, MAXN, 30W … */
  mode: z.union([z.int().min(0).max(999_999), z.string().min(1).max(64)]),
  /** For modes that only a boot can bring. */
  reboot: z.boolean().default(false),
});
export type SetPowerModeParams = z.infer<typeof SetPowerModeParams>;

type Facts = Observed<'jetson'>;

export function planPowerMode({ jetson }: Facts, { mode, reboot }: SetPowerModeParams): Plan {
  if (!jetson.isTegra) return blocked('not_a_jetson', 'power modes are those of Jetson boards');
  if (jetson.powerModes.length === 0) return blocked('no_power_modes', '/etc/nvpmodel.conf names no power modes');
  const to = find(jetson.powerModes, mode);
  if (!to) {
    const known = jetson.powerModes.map(({ id, name }) => `${id} ${name}`).join(', ');
    return blocked('mode_unknown', `this board has no power mode ${mode}: it has ${known}`);
  }
  const from = currentOf(jetson);
  if (from === null)
    return blocked('mode_not_told', 'which mode the board is in is not known: it could not be put back');
  if (from.id === to.id) return noop('already_set', `the board is in mode ${to.id} ${to.name}`);
  const atBoot = needsBoot(jetson.powerModes, from.id, to);
  if (atBoot && !reboot)
    return blocked('needs_reboot', `${to.name} switches parts of the GPU, which only a boot can do: add reboot=true`);
  const steps: Step[] = [{ do: 'set_power_mode', from: from.id, to: to.id, atBoot }];
  if (atBoot) steps.push({ do: 'reboot_host', timeoutMs: rebootTimeoutMs });
  return {
    outcome: 'plan',
    because: [reason('mode_differs', `the board is in mode ${titleOf(from)}`)],
    steps,
    holders: [],
  };
}

export function verifyPowerMode(
  { jetson }: Facts,
  { mode }: SetPowerModeParams,
  before: Facts & Also,
  also: Also,
): Verdict {
  const to = find(jetson.powerModes, mode);
  const now = currentOf(jetson);
  const down = downSince(before, also);
  if (down.length > 0) return { ok: false, because: down, answered: false };
  if (to && now?.id === to.id)
    return { ok: true, because: [reason('live_as_asked', `the board is in mode ${titleOf(to)}`)] };
  const told = now === null ? 'not told' : titleOf(now);
  return { ok: false, because: [reason('mode_differs', `the power mode is ${told}`)], answered: now !== null };
}

/** What nvpmodel says of the board counts before what it noted when it was last told. */
function currentOf({ livePowerMode, powerMode }: JetsonFact): JetsonFact['powerMode'] {
  return livePowerMode ?? powerMode;
}

function titleOf({ id, name }: { id: number; name: string | null }): string {
  return name === null ? `${id}` : `${id} ${name}`;
}

function find(modes: readonly PowerMode[], asked: number | string): PowerMode | undefined {
  const text = String(asked).toLowerCase();
  return modes.find(({ name }) => name.toLowerCase() === text) ?? modes.find(({ id }) => String(id) === text);
}

/** Which parts of the GPU have power is settled before the first program opens it. */
function needsBoot(modes: readonly PowerMode[], fromId: number, to: PowerMode): boolean {
  const from = modes.find(({ id }) => id === fromId);
  return (from?.gating ?? null) !== (to.gating ?? null);
}
