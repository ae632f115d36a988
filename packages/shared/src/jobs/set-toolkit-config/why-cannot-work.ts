import { gpuSpecs, isStale, realDir } from '../../diagnosis/cdi-questions.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { reason } from '../plan-parts.ts';
import type { PlanReason } from '../step.ts';
import type { ConfigTarget } from './config-target.ts';
import type { SetToolkitConfigParams } from './params.ts';
import type { Facts } from './plan.ts';

type Mode = NonNullable<SetToolkitConfigParams['mode']>;

/** The first release of the toolkit that knows the mode. */
const modeSince: { readonly [M in Mode]: readonly number[] } = {
  auto: [1, 10],
  legacy: [1, 10],
  csv: [1, 10],
  cdi: [1, 12],
  'jit-cdi': [1, 18],
};

/** Settings with which the next container would not start, or would get no GPU. */
export function whyCannotWork(
  facts: Facts,
  params: SetToolkitConfigParams,
  target: ConfigTarget,
  differing: readonly string[],
): PlanReason[] {
  const problems: (PlanReason | null)[] = [];
  if (params.mode !== undefined && differing.includes('mode')) problems.push(whyNotMode(facts, params.mode, target));
  if (params.noCgroups !== undefined && differing.includes('noCgroups'))
    problems.push(whyNotCgroups(facts, params.noCgroups, target));
  if (params.driverRoot !== undefined && differing.includes('driverRoot'))
    problems.push(whyNotRoot(facts, params.driverRoot));
  return problems.filter((problem) => problem !== null);
}

function whyNotMode({ toolkit, jetson, driver, cdi }: Facts, mode: Mode, target: ConfigTarget): PlanReason | null {
  const since = modeSince[mode];
  if (isOlderThan(toolkit.version, since))
    return reason('toolkit_too_old', `mode ${mode} is of toolkit ${since.join('.')} and later, not ${toolkit.version}`);
  if (mode === 'csv' && jetson?.isTegra !== true)
    return reason('mode_needs_tegra', 'mode csv mounts what the lists of a Jetson name: this is none');
  if (mode === 'csv' && (jetson?.csvFiles ?? []).length === 0)
    return reason('csv_lists_missing', 'there are no csv lists in /etc/nvidia-container-runtime');
  if ((mode === 'legacy' || mode === 'jit-cdi') && driver?.flavour === 'nvgpu')
    return reason('mode_needs_nvml', `mode ${mode} asks NVML, which tells nothing of the GPU of this board`);
  return mode === 'cdi' && cdi ? whyNotCdi(cdi, driver?.loadedVersion ?? null, target) : null;
}

function whyNotCdi(
  cdi: NonNullable<Facts['cdi']>,
  loadedVersion: string | null,
  { config }: ConfigTarget,
): PlanReason | null {
  const read = config.cdiSpecDirs.map((dir) => realDir(cdi, dir));
  const specs = gpuSpecs(cdi).filter(({ dir }) => read.includes(realDir(cdi, dir)));
  if (specs.length === 0)
    return reason(
      'cdi_spec_missing',
      `there is no CDI specification in ${config.cdiSpecDirs.join(', ')}: generate_cdi comes first`,
    );
  if (specs.every((spec) => isStale(spec, loadedVersion)))
    return reason('cdi_spec_stale', `${specs[0]?.file.path} is of another driver: generate_cdi comes first`);
  return null;
}

/** Who sets device filters must be root, and a rootless engine cannot. */
function whyNotCgroups({ toolkit, docker }: Facts, noCgroups: boolean, target: ConfigTarget): PlanReason | null {
  if (target.scope === 'user')
    return noCgroups ? null : reason('rootless_engine', `the engine that reads ${target.file.path} is no root`);
  const usesHook = !['cdi', 'jit-cdi', 'csv'].includes(target.config.mode);
  if (noCgroups) {
    const isRoot = toolkit.inUserNamespace !== true && docker?.live != null && !docker.live.rootless;
    return isRoot && usesHook
      ? reason('root_engine', 'docker runs as root here: without device filters its containers see no GPU')
      : null;
  }
  if (toolkit.inUserNamespace === true)
    return reason('rootless_engine', 'root of this host is an ordinary user outside: it cannot set device filters');
  const needy = (docker?.rootless ?? []).find(
    ({ uid }) => !toolkit.otherConfigs?.some((other) => other.scope === 'user' && other.uid === uid),
  );
  if (needy || (docker?.live?.rootless && (docker.rootless ?? []).length === 0))
    return reason(
      'rootless_engine',
      `${needy ? `the engine of user ${needy.uid}` : 'a rootless docker'} reads ${target.file.path} too: its own file comes first`,
    );
  return null;
}

function whyNotRoot({ driver }: Facts, driverRoot: string): PlanReason | null {
  const root = driverRoot.replace(/\/+$/, '');
  const isThere =
    root === ''
      ? driver?.libraryPath != null
      : driver?.otherLibraries.some((library) => library.root.replace(/\/+$/, '') === root);
  return isThere ? null : reason('no_driver_there', `no libnvidia-ml was found below ${root || '/'}`);
}
