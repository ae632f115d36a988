import type { DockerFact } from '../../probes/docker/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { blocked, noop, reason, restartUnit, startUnit, unitProblem } from '../plan-parts.ts';
import type { Holder, KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { wantedBinary } from './runtime-binary.ts';

type Facts = { docker: DockerFact; toolkit: ToolkitFact };

export function planDocker({ docker, toolkit }: Facts, params: ConfigureRuntimeParams): Plan {
  const problem = whyNot(docker, params);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const config = docker.config ?? { runtimes: [], defaultRuntime: null, cdi: null };
  const entry = config.runtimes.find(({ name }) => name === params.runtimeName);
  if (entry?.type && entry.binary === null)
    return blocked('entry_is_a_shim', `runtimes.${params.runtimeName} names the shim ${entry.type}, not a binary`);
  const binary = wantedBinary(toolkit, params.runtimePath, entry?.binary ?? null, 'bare');
  if (!binary.ok) return { outcome: 'blocked', because: [binary.problem] };

  const isDoubled = doublesRuntimes(docker);
  const wanted = editsFor(docker, params, binary.path);
  const edits: KeyEdit[] = isDoubled
    ? [{ op: 'remove', path: ['runtimes'] }, ...wanted.filter(({ path }) => path[0] !== 'runtimes')]
    : wanted;
  const lacks = whatLiveLacks(docker, params);
  const isUnchanged =
    isGivenByFlags(docker, params.runtimeName) || !isNewerThanStart(docker.configFile.mtimeMs, docker.unit);
  const fromFlags = entry === undefined && lacks.length === 0 && isUnchanged;
  // dockerd refuses to start when a flag and daemon.json give the same setting.
  if (fromFlags && docker.live?.runtimes.includes(params.runtimeName))
    return noop(
      'configured_by_flags',
      `dockerd was started with ${params.runtimeName}: daemon.json must not repeat it`,
    );
  if (edits.length === 0 && lacks.length === 0)
    return noop('already_configured', `docker runs with ${params.runtimeName} as asked`);

  const steps: Step[] = [];
  if (edits.length > 0)
    steps.push({
      do: 'edit_file',
      path: docker.configFile.path,
      format: 'json',
      baseSha256: docker.configFile.present ? docker.configFile.sha256 : null,
      edits,
      newMode: 0o644,
    });
  // The running daemon may have all of it although somebody took it out of the file since.
  const changesLive = entry !== undefined && !isDoubled;
  const restarts = lacks.length > 0 || changesLive || edits.some((edit) => edit.path[0] === 'features');
  if (restarts)
    steps.push(docker.unit?.activeState === 'active' ? restartUnit('docker', isDoubled) : startUnit('docker'));
  const because = [...edits.map((edit) => reason('file_differs', edit.path.join('.'))), ...lacks];
  return { outcome: 'plan', because, steps, holders: restarts ? holdersOf(docker) : [] };
}

function whyNot(docker: DockerFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!docker.installed) return reason('not_installed', 'there is no dockerd on this host');
  const unit = unitProblem(docker.unit, 'docker.service');
  if (unit) return unit;
  if (docker.live?.rootless) return reason('rootless', 'a rootless docker keeps its settings in a home folder');
  if (params.configPath !== undefined && params.configPath !== docker.configFile.path)
    return reason('config_path_not_read', `this dockerd reads ${docker.configFile.path}, not ${params.configPath}`);
  if (params.dropInPath !== undefined) return reason('unsupported_for_runtime', 'docker has no drop-in files');
  if (params.enableCri !== undefined) return reason('unsupported_for_runtime', 'docker has no CRI plugin');
  if (docker.configFile.present && (docker.configFile.error !== null || docker.config === null))
    return reason('config_invalid', `${docker.configFile.path}: ${docker.configFile.error ?? 'not readable'}`);
  if (docker.live === null) {
    const running = docker.unit?.activeState === 'active';
    if (running) return reason('daemon_not_answering', 'docker info gives no answer: a change could not be verified');
    if (doublesRuntimes(docker)) return null;
    return reason('daemon_not_running', `docker.service is ${docker.unit?.activeState ?? 'unknown'}: start it first`);
  }
  if (params.cdi && isOlderThan(docker.live.version, [25, 0]))
    return reason('engine_too_old', `docker ${docker.live.version} has no CDI: 25.0 is the first`);
  return null;
}

/**
 * Before 20.10 dockerd does not start with runtimes both in daemon.json and on its command line. Where the command line
 * has every one of them, those of the file can go; the unit itself is a person's.
 */
function doublesRuntimes({ config, flags, version }: DockerFact): boolean {
  const isOnCommandLine = flags?.configured?.some(({ directive }) => directive === 'runtimes') ?? false;
  if (!isOnCommandLine || !config?.keys?.includes('runtimes')) return false;
  if (version != null && !isOlderThan(version, [20, 10])) return false;
  return config.runtimes.every(({ name }) => isGivenByFlags({ flags }, name));
}

function isGivenByFlags({ flags }: Pick<DockerFact, 'flags'>, name: string): boolean {
  const runtimes = flags?.configured?.filter(({ directive }) => directive === 'runtimes') ?? [];
  return runtimes.some(({ value }) => value?.split('=')[0] === name);
}

function editsFor(docker: DockerFact, params: ConfigureRuntimeParams, binary: string): KeyEdit[] {
  const { config, live } = docker;
  const name = params.runtimeName;
  const entry = config?.runtimes.find((runtime) => runtime.name === name);
  const edits: KeyEdit[] = [];
  if (!entry && !isGivenByFlags(docker, name))
    edits.push({ op: 'set', path: ['runtimes', name], value: { path: binary, args: [] } });
  else if (entry && entry.binary !== binary) edits.push({ op: 'set', path: ['runtimes', name, 'path'], value: binary });
  if (params.setAsDefault === true && config?.defaultRuntime !== name)
    edits.push({ op: 'set', path: ['default-runtime'], value: name });
  if (params.setAsDefault === false && config?.defaultRuntime === name)
    edits.push({ op: 'remove', path: ['default-runtime'] });
  // Newer engines have CDI on without a word in the file: their spec folders show it.
  const cdiOn = config?.cdi ?? (live?.cdiSpecDirs.length ?? 0) > 0;
  if (params.cdi !== undefined && params.cdi !== cdiOn)
    edits.push({ op: 'set', path: ['features', 'cdi'], value: params.cdi });
  return edits;
}

/** What the running daemon does not have of what was asked; the verification asks the same. */
export function whatLiveLacks(docker: DockerFact, params: ConfigureRuntimeParams): PlanReason[] {
  const { live } = docker;
  if (live === null) return [reason('daemon_not_answering', 'docker info gives no answer')];
  const lacks: PlanReason[] = [];
  const { runtimeName: name, setAsDefault } = params;
  if (!live.runtimes.includes(name)) lacks.push(reason('live_lacks_runtime', `docker info does not list ${name}`));
  if (setAsDefault !== undefined && setAsDefault !== (live.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `docker's default runtime is ${live.defaultRuntime ?? 'not told'}`));
  if (params.cdi && live.cdiSpecDirs.length === 0)
    lacks.push(reason('live_lacks_cdi', 'docker info lists no CDI folders'));
  return lacks;
}

function holdersOf(docker: DockerFact): Holder[] {
  const running = docker.live?.containersRunning ?? null;
  if (running === 0 || docker.config?.liveRestore) return [];
  const name = running === null ? 'all running containers' : `${running} running containers`;
  return [{ type: 'container', name, pid: null, gpuUuid: null }];
}
