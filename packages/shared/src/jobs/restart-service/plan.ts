import { z } from 'zod';
import type { ConfigFile, UnitState } from '../../probes/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import type { Observed, Verdict } from '../define-job.ts';
import { noop, reason, restartUnit, startUnit, unitProblem } from '../plan-parts.ts';
import type { Holder, Plan, PlanReason } from '../step.ts';

export const RestartServiceParams = z.strictObject({
  unit: z.enum(['docker', 'containerd', 'k3s', 'k3s-agent', 'nvidia-fabricmanager']),
  action: z.enum(['restart', 'start', 'enable']).default('restart'),
  /**
   * Host time: a unit that started later than this is not restarted again. With it a restart can be asked for whatever
   * the files say (the moment of asking), or for a change that the facts do not show (that change's time).
   */
  unlessStartedAfterMs: z.number().min(0).optional(),
});
export type RestartServiceParams = z.infer<typeof RestartServiceParams>;
export type NeededProbe = 'docker' | 'containerd' | 'k3s' | 'toolkit' | 'fabric';
type Facts = Observed<NeededProbe>;

/** What the engines and the fabric manager have in common for a restart. */
interface Service {
  unit: UnitState | null;
  installed: boolean;
  files: ConfigFile[];
  answers: boolean;
  /** A runtime that the files give and the running daemon does not list. */
  lacksRuntime: boolean;
  holders: Holder[];
}

export function needsOf({ unit }: RestartServiceParams): readonly NeededProbe[] {
  if (unit === 'docker' || unit === 'containerd') return [unit];
  if (unit === 'nvidia-fabricmanager') return ['fabric'];
  return ['k3s', 'toolkit'];
}

export function planRestart(facts: Facts, params: RestartServiceParams): Plan {
  const service = serviceOf(facts, params.unit);
  const name = `${params.unit}.service`;
  const problem = whyNot(service, name);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const { unit } = service;
  const isActive = unit?.activeState === 'active';
  if (params.action === 'enable') {
    if (unit?.enabled?.startsWith('enabled')) return noop('already_enabled', `${name} starts at boot`);
    const because = [reason('not_enabled', `${name} is ${unit?.enabled ?? 'not enabled'}`)];
    return { outcome: 'plan', because, steps: [{ do: 'enable_unit', unit: name }], holders: [] };
  }
  if (params.action === 'start') {
    if (isActive) return noop('already_running', `${name} is active`);
    const because = [reason('not_running', `${name} is ${unit?.activeState}`)];
    return { outcome: 'plan', because, steps: [startUnit(params.unit)], holders: [] };
  }
  const because = whyRestart(service, params, isActive);
  if (because.length === 0)
    return noop('nothing_newer', `${name} answers, and nothing it reads has changed since it started`);
  return { outcome: 'plan', because, steps: [restartUnit(params.unit)], holders: service.holders };
}

export function verifyRestart(facts: Facts, params: RestartServiceParams, before: Facts): Verdict {
  const { unit, answers } = serviceOf(facts, params.unit);
  const name = `${params.unit}.service`;
  if (params.action === 'enable') {
    if (unit?.enabled?.startsWith('enabled'))
      return { ok: true, because: [reason('live_as_asked', `${name} is enabled`)] };
    return {
      ok: false,
      because: [reason('not_enabled', `${name} is ${unit?.enabled ?? 'not known'}`)],
      answered: false,
    };
  }
  if (unit?.activeState !== 'active')
    return {
      ok: false,
      because: [reason('not_running', `${name} is ${unit?.activeState ?? 'not known'}`)],
      answered: false,
    };
  if (!answers)
    return {
      ok: false,
      because: [reason('daemon_not_answering', `${name} is active and gives no answer`)],
      answered: false,
    };
  const old = serviceOf(before, params.unit).unit;
  const isSameRun = old?.activeState === 'active' && old.mainPid !== null && old.mainPid === unit.mainPid;
  if (params.action === 'restart' && isSameRun)
    return {
      ok: false,
      because: [reason('not_restarted', `${name} still runs as process ${unit.mainPid}`)],
      answered: false,
    };
  return { ok: true, because: [reason('live_as_asked', `${name} is active and answers`)] };
}

function whyNot(service: Service, name: string): PlanReason | null {
  if (!service.installed) return reason('not_installed', `what ${name} runs is not on this host`);
  const problem = unitProblem(service.unit, name);
  if (problem) return problem;
  if (service.unit?.name !== name) return reason('unit_unknown', `this host has ${service.unit?.name}, not ${name}`);
  const broken = service.files.find((file) => file.error !== null);
  // It would not come up again.
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  return null;
}

function whyRestart(service: Service, params: RestartServiceParams, isActive: boolean): PlanReason[] {
  const { unit, files } = service;
  if (!isActive) return [reason('not_running', `${unit?.name} is ${unit?.activeState}`)];
  if (params.unlessStartedAfterMs !== undefined) {
    // Start times have whole seconds: one of the same second counts as later, or a restart would be asked for for ever.
    if (unit?.startedAtMs != null && unit.startedAtMs + 999 > params.unlessStartedAfterMs) return [];
    return [reason('started_before', `${unit?.name} has run since before the time given`)];
  }
  const newer = files.filter((file) => isNewerThanStart(file.mtimeMs, unit));
  return [
    ...newer.map((file) => reason('file_newer_than_start', `${file.path} was changed after ${unit?.name} started`)),
    ...(service.answers ? [] : [reason('daemon_not_answering', `${unit?.name} is active and gives no answer`)]),
    ...(service.lacksRuntime
      ? [reason('live_lacks_runtime', 'it does not list a runtime that it is configured for')]
      : []),
  ];
}

function serviceOf(facts: Facts, unit: RestartServiceParams['unit']): Service {
  if (unit === 'docker') {
    const { installed, unit, configFile, config, live } = facts.docker;
    const lacksRuntime = live !== null && (config?.runtimes ?? []).some(({ name }) => !live.runtimes.includes(name));
    const count = live?.containersRunning ?? null;
    const name = count === null ? 'all running containers' : `${count} running containers`;
    const holders: Holder[] =
      count === 0 || config?.liveRestore ? [] : [{ type: 'container', name, pid: null, gpuUuid: null }];
    return { installed, unit, files: [configFile], answers: live !== null, lacksRuntime, holders };
  }
  if (unit === 'containerd') {
    const { installed, unit, files, effective, live } = facts.containerd;
    const listed = live?.criReady ? live.runtimes : null;
    const lacksRuntime =
      listed !== null &&
      (effective?.runtimes ?? []).some(({ name }) => !listed.some((runtime) => runtime.name === name));
    return { installed, unit, files, answers: live !== null, lacksRuntime, holders: [] };
  }
  if (unit === 'nvidia-fabricmanager') {
    const { managerUnit, gpus } = facts.fabric;
    // Where the driver tells no state, the unit that runs is all there is.
    const answers = gpus.every(({ state }) => state === null || state === 'Completed');
    return { installed: managerUnit !== null, unit: managerUnit, files: [], answers, lacksRuntime: false, holders: [] };
  }
  const { installed, configFiles, templates, live, unit: state } = facts.k3s;
  const hasBinary = facts.toolkit.binaries.some(({ name }) => name === 'nvidia-container-runtime');
  const lacksRuntime = live !== null && hasBinary && !live.runtimes.some(({ name }) => name === 'nvidia');
  return {
    installed,
    unit: state,
    files: [...configFiles, ...templates],
    answers: live !== null,
    lacksRuntime,
    holders: [],
  };
}
