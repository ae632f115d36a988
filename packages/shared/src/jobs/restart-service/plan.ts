import { isNewerThanStart } from '../../probes/unit-age.ts';
import type { Observed, Verdict } from '../define-job.ts';
import { noop, reason, restartUnit, startUnit, unitProblem } from '../plan-parts.ts';
import type { Plan, PlanReason } from '../step.ts';
import type { RestartServiceParams } from './params.ts';
import { type NeededProbe, type Service, services } from './services.ts';

type Facts = Observed<NeededProbe>;

export function needsOf({ unit }: RestartServiceParams): readonly NeededProbe[] {
  return services[unit].needs;
}

export function planRestart(facts: Facts, params: RestartServiceParams): Plan {
  const service = serviceOf(facts, params);
  const name = `${params.unit}.service`;
  const problem = whyNot(service, name, params);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const { unit } = service;
  const isActive = isUp(service);
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
  const service = serviceOf(facts, params);
  const { unit, answers } = service;
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
  if (!isUp(service))
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
  const old = serviceOf(before, params).unit;
  const isSameRun = old?.activeState === 'active' && old.mainPid !== null && old.mainPid === unit?.mainPid;
  if (params.action === 'restart' && isSameRun)
    return {
      ok: false,
      because: [reason('not_restarted', `${name} still runs as process ${unit?.mainPid}`)],
      answered: false,
    };
  return { ok: true, because: [reason('live_as_asked', `${name} is active and answers`)] };
}

/** A unit that runs to its end is well when it is not failed. */
function isUp({ unit, oneShot }: Service): boolean {
  return unit?.activeState === 'active' || (oneShot && unit?.activeState === 'inactive');
}

function whyNot(service: Service, name: string, params: RestartServiceParams): PlanReason | null {
  if (!service.installed) return reason('not_installed', `what ${name} runs is not on this host`);
  const problem = unitProblem(service.unit, name);
  if (problem) return problem;
  if (service.unit?.name !== name) return reason('unit_unknown', `this host has ${service.unit?.name}, not ${name}`);
  const broken = service.files.find((file) => file.error !== null);
  // It would not come up again.
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (service.refusesFiles)
    return reason('config_invalid', `${name} would not start with its files, or not all were read`);
  if (service.oneShot && params.unlessStartedAfterMs !== undefined)
    return reason('unsupported_for_unit', `systemd does not keep when ${name} ran, which ends by itself`);
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

function serviceOf(facts: Facts, { unit }: RestartServiceParams): Service {
  return services[unit].read(facts, `${unit}.service`);
}
