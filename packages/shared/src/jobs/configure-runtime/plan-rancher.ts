import type { K3sFact } from '../../probes/k3s/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { noop, reason, restartUnit, type ServiceUnit, unitProblem } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { runtimeBinary } from './runtime-binary.ts';

/** k3s, and rke2 which is made of the same parts. */
type Rancher = 'k3s' | 'rke2';

/** The last of our possible names is read last: it wins over what an installer left. */
const dropIns: Record<Rancher, string> = {
  k3s: '/etc/rancher/k3s/config.yaml.d/90-gpufleet.yaml',
  rke2: '/etc/rancher/rke2/config.yaml.d/90-gpufleet.yaml',
};
const units: Record<Rancher, { server: ServiceUnit; agent: ServiceUnit }> = {
  k3s: { server: 'k3s', agent: 'k3s-agent' },
  rke2: { server: 'rke2-server', agent: 'rke2-agent' },
};
/** Handlers that both make by themselves, and the binary that each needs. */
const binaries: Record<string, string> = { nvidia: runtimeBinary, 'nvidia-cdi': `${runtimeBinary}.cdi` };

export function planRancher(name: Rancher, fact: K3sFact, toolkit: ToolkitFact, params: ConfigureRuntimeParams): Plan {
  const problem = whyNot(name, fact, toolkit, params);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const edits = editsFor(fact, params);
  const lacks = whatLiveLacks(name, fact, params);
  if (edits.length === 0 && lacks.length === 0)
    return noop('already_configured', `the containerd of ${name} runs with ${params.runtimeName} as asked`);
  const steps: Step[] = [];
  if (edits.length > 0) {
    const path = dropIns[name];
    const file = fact.configFiles.find((candidate) => candidate.path === path);
    const baseSha256 = file?.present ? file.sha256 : null;
    steps.push({ do: 'edit_file', path, format: 'yaml', baseSha256, edits, newMode: 0o600 });
  }
  if (lacks.length > 0) steps.push(restartUnit(units[name][fact.role === 'agent' ? 'agent' : 'server']));
  const because = [
    ...edits.map((edit) => reason('file_differs', edit.path.join('.'))),
    ...lacks,
    ...newer(fact, toolkit),
  ];
  return { outcome: 'plan', because, steps, holders: [] };
}

function whyNot(name: Rancher, fact: K3sFact, toolkit: ToolkitFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!fact.installed) return reason('not_installed', `there is no ${name} on this host`);
  const unit = unitProblem(fact.unit, `unit of ${name}`);
  if (unit) return unit;
  for (const key of ['configPath', 'dropInPath', 'runtimePath', 'enableCri'] as const)
    if (params[key] !== undefined)
      return reason(
        'unsupported_for_runtime',
        `${name} writes its containerd configuration itself: ${key} has no place there`,
      );
  const missing = missingBinary(name, fact, toolkit, params.runtimeName);
  if (missing) return missing;
  const broken = [...fact.configFiles, ...fact.templates].find((file) => file.error !== null);
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (fact.unit?.activeState !== 'active')
    return reason('daemon_not_running', `${fact.unit?.name} is ${fact.unit?.activeState}: start it first`);
  if (params.cdi !== undefined && params.cdi !== (fact.rendered?.enableCdi ?? false))
    return reason('unsupported_for_runtime', `CDI of ${name} is switched in a template, which a person writes`);
  if (params.setAsDefault === false && fact.defaultRuntimeSetting === params.runtimeName && !isOurs(name, fact))
    return reason(
      'set_elsewhere',
      `default-runtime is set in a file of ${name} that is not ours: a person takes it out`,
    );
  return null;
}

/** A default runtime that is not found at a start ends the start. */
function missingBinary(name: Rancher, fact: K3sFact, toolkit: ToolkitFact, handler: string): PlanReason | null {
  const binary = binaries[handler];
  if (binary === undefined) {
    const handlers = Object.keys(binaries).join(' and ');
    return reason('unsupported_for_runtime', `${name} makes the runtimes ${handlers} by itself`);
  }
  if (!toolkit.binaries.some((found) => found.name === binary))
    return reason('runtime_binary_missing', `${binary} is not installed: install the toolkit first`);
  const { searchPath, runtimesFound } = fact;
  if (searchPath.length > 0 && !runtimesFound.some((found) => found.handler === handler))
    return reason('runtime_binary_missing', `${binary} is in none of the folders that ${name} searches`);
  return null;
}

function isOurs(name: Rancher, fact: K3sFact): boolean {
  return fact.configFiles.some((file) => file.path === dropIns[name] && file.present);
}

function editsFor(fact: K3sFact, params: ConfigureRuntimeParams): KeyEdit[] {
  const isDefault = fact.defaultRuntimeSetting === params.runtimeName;
  if (params.setAsDefault === undefined || params.setAsDefault === isDefault) return [];
  if (!params.setAsDefault) return [{ op: 'remove', path: ['default-runtime'] }];
  return [{ op: 'set', path: ['default-runtime'], value: params.runtimeName }];
}

function newer(fact: K3sFact, toolkit: ToolkitFact): PlanReason[] {
  return toolkit.binaries
    .filter(({ name, mtimeMs }) => name.startsWith(runtimeBinary) && isNewerThanStart(mtimeMs, fact.unit))
    .map(({ path }) => reason('binary_newer_than_start', `${path} is newer than the start of ${fact.unit?.name}`));
}

/**
 * What the running containerd does not have. Where it gives no answer, the configuration that was written at the last
 * start stands in for it.
 */
export function whatLiveLacks(name: Rancher, fact: K3sFact, params: ConfigureRuntimeParams): PlanReason[] {
  const running = fact.live ?? fact.rendered;
  if (running === null)
    return [reason('daemon_not_answering', `${name} shows neither a live nor a written configuration`)];
  const lacks: PlanReason[] = [];
  if (!running.runtimes.some((runtime) => runtime.name === params.runtimeName))
    lacks.push(reason('live_lacks_runtime', `the containerd of ${name} does not list ${params.runtimeName}`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (running.defaultRuntime === params.runtimeName))
    lacks.push(reason('live_default_differs', `the default runtime is ${running.defaultRuntime ?? 'not told'}`));
  return lacks;
}
