import { z } from 'zod';
import type { Disruption } from '../step.ts';
import { quiet, type StepKind } from './step-kind.ts';

const timed = { unit: z.string(), timeoutMs: z.int() };

export const RestartUnit = z.object({
  do: z.literal('restart_unit'),
  ...timed,
  /** The files of before would keep the unit from starting: it runs on what it loaded before they became so. */
  filesWereBroken: z.literal(true).optional(),
});
export type RestartUnit = z.infer<typeof RestartUnit>;
export const StartUnit = z.object({ do: z.literal('start_unit'), ...timed });
export type StartUnit = z.infer<typeof StartUnit>;
export const StopUnit = z.object({ do: z.literal('stop_unit'), ...timed });
export type StopUnit = z.infer<typeof StopUnit>;
export const EnableUnit = z.object({ do: z.literal('enable_unit'), unit: z.string() });
export type EnableUnit = z.infer<typeof EnableUnit>;
export const DisableUnit = z.object({ do: z.literal('disable_unit'), unit: z.string() });
export type DisableUnit = z.infer<typeof DisableUnit>;
/** `systemctl daemon-reload`: systemd reads unit files and their drop-ins anew. */
export const ReloadUnits = z.object({ do: z.literal('reload_units') });
export type ReloadUnits = z.infer<typeof ReloadUnits>;

/** These run the host's pod network, and with it its firewall rules. */
const ownsNetwork = /^(k3s|k3s-agent|rke2-server|rke2-agent|snap\.microk8s\..*)\.service$/;

/** Containers of docker end with their daemon; those of containerd and k3s live in shims. */
function disruptionOf({ unit }: { unit: string }): Disruption {
  return unit === 'docker.service' ? 'restarts_containers' : 'restarts_runtime';
}

/** Measured starts: docker and containerd some seconds, a Kubernetes distribution until its API answers. */
function downtimeOf({ unit }: { unit: string }): number {
  return ownsNetwork.test(unit) ? 30_000 : 5_000;
}

const cutsOff = ({ unit }: { unit: string }) => ownsNetwork.test(unit);
const subject = ({ unit }: { unit: string }) => unit;

/** ActiveState as the executor read it. */
function isDown(before: unknown): boolean {
  return before === 'inactive' || before === 'failed';
}

/** UnitFileState as the executor read it. */
function isEnabled(before: unknown): boolean {
  return typeof before === 'string' && before.startsWith('enabled');
}

export const unitSteps: {
  restart_unit: StepKind<RestartUnit>;
  start_unit: StepKind<StartUnit>;
  stop_unit: StepKind<StopUnit>;
  enable_unit: StepKind<EnableUnit>;
  disable_unit: StepKind<DisableUnit>;
  reload_units: StepKind<ReloadUnits>;
} = {
  restart_unit: {
    subject,
    phase: 'restarting',
    disruption: disruptionOf,
    downtimeMs: downtimeOf,
    mayCutOff: cutsOff,
    inverse: () => [],
    again({ unit, timeoutMs, filesWereBroken }, changesFiles) {
      // With no file to go back to, all there is to undo is a unit that did not come up. And a daemon that runs is worth
      // more than one that has read files which keep it down.
      return { do: changesFiles && !filesWereBroken ? 'restart_unit' : 'start_unit', unit, timeoutMs };
    },
  },
  start_unit: {
    ...quiet,
    subject,
    phase: 'restarting',
    // Somebody else's start is not ours to take back.
    inverse: ({ unit, timeoutMs }, { before }) => (before === 'active' ? [] : [{ do: 'stop_unit', unit, timeoutMs }]),
  },
  stop_unit: {
    subject,
    phase: 'applying',
    disruption: disruptionOf,
    downtimeMs: downtimeOf,
    mayCutOff: cutsOff,
    suspends: true,
    inverse: ({ unit, timeoutMs }, { before }) => (isDown(before) ? [] : [{ do: 'start_unit', unit, timeoutMs }]),
  },
  enable_unit: {
    ...quiet,
    subject,
    inverse: ({ unit }, { before }) => (isEnabled(before) ? [] : [{ do: 'disable_unit', unit }]),
  },
  disable_unit: {
    ...quiet,
    subject,
    inverse: ({ unit }, { before }) => (before === 'disabled' ? [] : [{ do: 'enable_unit', unit }]),
  },
  reload_units: {
    ...quiet,
    subject: () => 'systemd',
    inverse: () => [],
    again: (step, changesFiles) => (changesFiles ? step : null),
  },
};
