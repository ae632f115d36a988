import {
  gpuKind,
  gpuSpecs,
  isStale,
  newSpecPath,
  outlastsBoot,
  realDir,
  realSpecPath,
  staleParts,
} from '../../diagnosis/cdi-questions.ts';
import { driverAnswers } from '../../diagnosis/host-questions.ts';
import type { CdiFact, CdiSpec } from '../../probes/cdi/fact.ts';
import type { Gpu } from '../../probes/gpus/fact.ts';
import { isOlderThan } from '../../probes/versions.ts';
import type { Also, Observed, Verdict } from '../define-job.ts';
import { noop, reason } from '../plan-parts.ts';
import type { Plan, PlanReason, Step } from '../step.ts';
import type { GenerateCdiParams } from './params.ts';
import { enableRefresh, settingsOf, whyNotLasting } from './refresh-unit.ts';
import { devicesMissingFrom } from './wanted-devices.ts';

type Facts = Observed<'cdi' | 'toolkit' | 'driver' | 'jetson'>;

/** The first toolkit with `cdi generate`. */
const generatesSince = [1, 12];
/** The first that has the fault of the 565 drivers, and the flag that helps. */
const sandboxUtilsSince = [1, 18];

export function planGenerateCdi(facts: Facts, params: GenerateCdiParams, also: Also): Plan {
  const { cdi } = facts;
  const path = params.path ?? pathOf(cdi);
  const at = realSpecPath(cdi, path);
  const there = cdi.specs.find((spec) => realSpecPath(cdi, spec.file.path) === at);
  const others = inTheWay(cdi, at, facts.driver.loadedVersion);
  const because = whatIsWrong(facts, params, there, others, also.gpus?.gpus ?? []);
  const enable = enableRefresh(cdi, at);
  const problem = whyNot(facts, params, at, there, also.gpus?.gpus ?? []);
  if (problem) return { outcome: 'blocked', because: [problem] };
  if (because.length === 0 && enable.length === 0)
    return noop('already_there', `${path} names every GPU of this host, and what it names is there`);
  if (others.length > 0 && !params.replaceOthers)
    return {
      outcome: 'blocked',
      because: others.map(({ file }) =>
        reason('conflicting_spec', `${file.path} would hide or collide with it: replaceOthers removes that one`),
      ),
    };
  const generator = settingsOf(cdi, params, at);
  if (!generator.ok) return { outcome: 'blocked', because: [generator.problem] };
  const generate: Step = {
    do: 'generate_cdi_spec',
    path,
    baseSha256: there?.file.sha256 ?? null,
    format: path.endsWith('.json') ? 'json' : 'yaml',
    ...generator.settings,
    newMode: 0o644,
  };
  const remove = others.flatMap(({ file }): Step[] =>
    file.sha256 === null ? [] : [{ do: 'remove_file', path: file.path, baseSha256: file.sha256 }],
  );
  return {
    outcome: 'plan',
    because: [...because, ...enable.map(({ unit }) => reason('not_enabled', `${unit} does not start at boot`))],
    // The unit first: a host that loses its power in between makes its specification by itself.
    steps: [...enable, ...(because.length > 0 ? [generate, ...remove] : [])],
    holders: [],
  };
}

/** Asked of the host again, as each engine puts its specifications together. */
export function verifyGenerateCdi(facts: Facts, params: GenerateCdiParams, before: Facts & Also, also: Also): Verdict {
  const { cdi } = facts;
  const path = params.path ?? pathOf(before.cdi);
  const at = realSpecPath(cdi, path);
  const there = cdi.specs.find((spec) => realSpecPath(cdi, spec.file.path) === at);
  const because = whatIsWrong(
    facts,
    params,
    there,
    inTheWay(cdi, at, facts.driver.loadedVersion),
    also.gpus?.gpus ?? [],
  );
  const seen = also.docker?.live?.cdiDevices;
  const isRead = also.docker?.live?.cdiSpecDirs.some((dir) => realDir(cdi, dir) === folderOf(at)) ?? false;
  if (because.length === 0 && isRead && seen && !seen.some((device) => device.startsWith(`${gpuKind}=`)))
    because.push(reason('live_lacks_cdi', 'docker lists no device of nvidia.com/gpu'));
  if (because.length > 0) return { ok: false, because, answered: true };
  return { ok: true, because: [reason('live_as_asked', `${path} gives ${there?.devices.length} devices`)] };
}

/** Where it is now, unless that does not last; else where a new one belongs. */
function pathOf(cdi: CdiFact): string {
  const lasting = gpuSpecs(cdi).find(({ file }) => outlastsBoot(cdi, file.path));
  return lasting?.file.path ?? newSpecPath(cdi);
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function whatIsWrong(
  { cdi, driver, jetson }: Facts,
  params: GenerateCdiParams,
  there: CdiSpec | undefined,
  others: readonly CdiSpec[],
  gpus: readonly Gpu[],
): PlanReason[] {
  if (there === undefined) return [reason('cdi_spec_missing', `there is no specification of ${gpuKind} yet`)];
  const { path } = there.file;
  if (there.file.error !== null) return [reason('cdi_spec_invalid', `${path}: ${there.file.error}`)];
  const wrong: PlanReason[] = [];
  const { versions, missing } = staleParts(there, driver.loadedVersion);
  const [version] = versions;
  const [gone] = missing;
  if (version !== undefined) wrong.push(reason('cdi_spec_stale', `${path} names files of driver ${version}`));
  if (gone !== undefined) wrong.push(reason('cdi_spec_stale', `${path} names ${gone}, which is not there`));
  const devices = devicesMissingFrom(there, gpus, jetson.isTegra, params);
  if (devices.length > 0) wrong.push(reason('cdi_devices_differ', `${path}: ${devices.slice(0, 4).join(', ')}`));
  wrong.push(...others.map(({ file }) => reason('conflicting_spec', `${file.path} hides it or collides with it`)));
  const conflict = cdi.conflicts.find(({ files }) => files.includes(path));
  if (conflict && others.length === 0) wrong.push(reason('conflicting_spec', `${conflict.device} is named twice`));
  return wrong;
}

/** Others of the same folder, whose devices vanish when both name them, and stale ones of a folder that wins. */
function inTheWay(cdi: CdiFact, at: string, loadedVersion: string | null): CdiSpec[] {
  const place = (dir: string) => cdi.specDirs.findIndex(({ realPath: real }) => real === realDir(cdi, dir));
  return gpuSpecs(cdi).filter((spec) => {
    if (realSpecPath(cdi, spec.file.path) === at) return false;
    if (realDir(cdi, spec.dir) === folderOf(at)) return true;
    return place(spec.dir) > place(folderOf(at)) && isStale(spec, loadedVersion);
  });
}

function whyNot(
  facts: Facts,
  params: GenerateCdiParams,
  at: string,
  there: CdiSpec | undefined,
  gpus: readonly Gpu[],
): PlanReason | null {
  const { cdi, toolkit, driver, jetson } = facts;
  if (!toolkit.binaries.some(({ name, path }) => name === 'nvidia-ctk' && !path.startsWith('/usr/local/nvidia/')))
    return reason('not_installed', 'nvidia-ctk is not on this host');
  if (isOlderThan(toolkit.version, generatesSince))
    return reason('toolkit_too_old', `toolkit ${toolkit.version} makes no CDI specifications: 1.12 is the first`);
  if (!driverAnswers({ driver, jetson }))
    return reason('driver_not_answering', 'the driver is not loaded, or its library is of another version');
  if (gpus.length === 0 && !jetson.isTegra) return reason('no_gpus', 'nvidia-smi lists no GPU');
  if (gpus.some(({ lost }) => lost)) return reason('gpu_lost', 'a GPU has fallen off the bus');
  const hasFault = driver.loadedVersion?.startsWith('565.') && !isOlderThan(toolkit.version, sandboxUtilsSince);
  if (hasFault && !params.featureFlags?.includes('disable-nvsandboxutils') && !isSwitchedOff(cdi))
    return reason('driver_565', 'drivers of the 565 branch have a fault there: add the flag disable-nvsandboxutils');
  if (there?.file.error === null && there.kind !== gpuKind)
    return reason('other_kind', `${there.file.path} is a specification of ${there.kind}`);
  if (there && there.file.sha256 === null) return reason('file_unreadable', `${there.file.path}: ${there.file.error}`);
  return whyNotLasting(cdi, at);
}

function isSwitchedOff({ refresh }: CdiFact): boolean {
  return Object.values(refresh.settings ?? {}).some((value) => value.includes('disable-nvsandboxutils'));
}
