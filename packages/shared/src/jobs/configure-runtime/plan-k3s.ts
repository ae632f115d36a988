import type { K3sFact } from '../../probes/k3s/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { noop, reason, restartUnit, unitProblem } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { runtimeBinary } from './runtime-binary.ts';

type Facts = { k3s: K3sFact; toolkit: ToolkitFact };

/** Read last of our possible names, so that it wins over what an installer left. */
const dropIn = '/etc/rancher/k3s/config.yaml.d/90-gpufleet.yaml';
/** Handlers that k3s makes by itself, and the binary that each needs. */
const binaries: Record<string, string> = { nvidia: runtimeBinary, 'nvidia-cdi': `${runtimeBinary}.cdi` };

export function planK3s({ k3s, toolkit }: Facts, params: ConfigureRuntimeParams): Plan {
  const problem = whyNot(k3s, toolkit, params);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const edits = editsFor(k3s, params);
  const lacks = whatLiveLacks(k3s, params);
  if (edits.length === 0 && lacks.length === 0)
    return noop('already_configured', `k3s' containerd runs with ${params.runtimeName} as asked`);
  const steps: Step[] = [];
  if (edits.length > 0) {
    const file = k3s.configFiles.find(({ path }) => path === dropIn);
    const baseSha256 = file?.present ? file.sha256 : null;
    steps.push({ do: 'edit_file', path: dropIn, format: 'yaml', baseSha256, edits, newMode: 0o600 });
  }
  if (lacks.length > 0) steps.push(restartUnit(k3s.role === 'agent' ? 'k3s-agent' : 'k3s'));
  const because = [
    ...edits.map((edit) => reason('file_differs', edit.path.join('.'))),
    ...lacks,
    ...newer(k3s, toolkit),
  ];
  return { outcome: 'plan', because, steps, holders: [] };
}

function whyNot(k3s: K3sFact, toolkit: ToolkitFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!k3s.installed) return reason('not_installed', 'there is no k3s on this host');
  const unit = unitProblem(k3s.unit, 'unit of k3s');
  if (unit) return unit;
  for (const key of ['configPath', 'dropInPath', 'runtimePath', 'enableCri'] as const)
    if (params[key] !== undefined)
      return reason(
        'unsupported_for_runtime',
        `k3s writes its containerd configuration itself: ${key} has no place there`,
      );
  const binary = binaries[params.runtimeName];
  if (binary === undefined)
    return reason('unsupported_for_runtime', `k3s makes the runtimes ${Object.keys(binaries).join(' and ')} by itself`);
  if (!toolkit.binaries.some(({ name }) => name === binary))
    return reason('runtime_binary_missing', `${binary} is not installed: install the toolkit first`);
  const broken = [...k3s.configFiles, ...k3s.templates].find((file) => file.error !== null);
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (k3s.unit?.activeState !== 'active')
    return reason('daemon_not_running', `${k3s.unit?.name} is ${k3s.unit?.activeState}: start it first`);
  if (params.cdi !== undefined && params.cdi !== (k3s.rendered?.enableCdi ?? false))
    return reason('unsupported_for_runtime', 'CDI of k3s is switched in a template, which a person writes');
  if (params.setAsDefault === false && k3s.defaultRuntimeSetting === params.runtimeName && !isOurs(k3s))
    return reason('set_elsewhere', `default-runtime is set in a file of k3s that is not ours: a person takes it out`);
  return null;
}

function isOurs(k3s: K3sFact): boolean {
  return k3s.configFiles.some((file) => file.path === dropIn && file.present);
}

function editsFor(k3s: K3sFact, params: ConfigureRuntimeParams): KeyEdit[] {
  const isDefault = k3s.defaultRuntimeSetting === params.runtimeName;
  if (params.setAsDefault === undefined || params.setAsDefault === isDefault) return [];
  if (!params.setAsDefault) return [{ op: 'remove', path: ['default-runtime'] }];
  return [{ op: 'set', path: ['default-runtime'], value: params.runtimeName }];
}

function newer(k3s: K3sFact, toolkit: ToolkitFact): PlanReason[] {
  return toolkit.binaries
    .filter(({ name, mtimeMs }) => name.startsWith(runtimeBinary) && isNewerThanStart(mtimeMs, k3s.unit))
    .map(({ path }) => reason('binary_newer_than_start', `${path} is newer than the start of ${k3s.unit?.name}`));
}

/**
 * What the running containerd of k3s does not have. Where it gives no answer, the configuration that k3s wrote at its
 * last start stands in for it.
 */
export function whatLiveLacks(k3s: K3sFact, params: ConfigureRuntimeParams): PlanReason[] {
  const running = k3s.live ?? k3s.rendered;
  if (running === null) return [reason('daemon_not_answering', 'k3s shows neither a live nor a written configuration')];
  const name = params.runtimeName;
  const lacks: PlanReason[] = [];
  if (!running.runtimes.some((runtime) => runtime.name === name))
    lacks.push(reason('live_lacks_runtime', `k3s' containerd does not list ${name}`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (running.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `the default runtime is ${running.defaultRuntime ?? 'not told'}`));
  return lacks;
}
