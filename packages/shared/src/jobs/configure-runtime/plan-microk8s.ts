import type { MicroK8sFact } from '../../probes/microk8s/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { noop, reason, restartUnit, unitProblem } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import { entryEdits, runcEdits, runcType } from './containerd-edits.ts';
import { criPath, type Home, pluginOf, rulesOf } from './containerd-layers.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { wantedBinary } from './runtime-binary.ts';

type Facts = { microk8s: MicroK8sFact; toolkit: ToolkitFact };
type TemplateConfig = NonNullable<MicroK8sFact['templateConfig']>;

/** Which containerd a revision of the snap brings is not told: what 1.x needs does no harm to 2.x. */
const rules = rulesOf(null);

export function planMicroK8s({ microk8s, toolkit }: Facts, params: ConfigureRuntimeParams): Plan {
  const blockedBy = (problem: PlanReason): Plan => ({ outcome: 'blocked', because: [problem] });
  const problem = whyNot(microk8s, params);
  if (problem) return blockedBy(problem);
  const { templateConfig: config, template } = microk8s;
  if (config === null) return blockedBy(reason('config_invalid', `${template.path} is not there, or not readable`));
  const entry = config.runtimes.find(({ name }) => name === params.runtimeName);
  const binary = wantedBinary(toolkit, params.runtimePath, entry?.binary ?? null, 'absolute');
  if (!binary.ok) return blockedBy(binary.problem);
  const edits = editsFor(microk8s, homeOf(microk8s, config), params, binary.path);
  const lacks = whatLiveLacks(microk8s, params);
  if (edits.length === 0 && lacks.length === 0)
    return noop('already_configured', `the containerd of MicroK8s runs with ${params.runtimeName} as asked`);
  const steps: Step[] = [];
  if (edits.length > 0) {
    const { path, sha256: baseSha256 } = template;
    steps.push({ do: 'edit_file', path, format: 'toml', baseSha256, edits, newMode: 0o644 });
  }
  // What is made from the template is made at a start.
  steps.push(restartUnit('snap.microk8s.daemon-containerd'));
  const because = [...edits.map((edit) => reason('file_differs', edit.path.join('.'))), ...lacks];
  return { outcome: 'plan', because, steps, holders: [] };
}

function whyNot(microk8s: MicroK8sFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!microk8s.installed) return reason('not_installed', 'there is no MicroK8s on this host');
  const unit = unitProblem(microk8s.unit, 'snap.microk8s.daemon-containerd.service');
  if (unit) return unit;
  for (const key of ['dropInPath', 'enableCri'] as const)
    if (params[key] !== undefined)
      return reason(
        'unsupported_for_runtime',
        `MicroK8s has one template of its containerd: ${key} has no place there`,
      );
  const { template } = microk8s;
  if (params.configPath !== undefined && params.configPath !== template.path)
    return reason('config_path_not_read', `MicroK8s reads ${template.path}, not ${params.configPath}`);
  if (template.error !== null) return reason('config_invalid', `${template.path}: ${template.error}`);
  if (microk8s.unit?.activeState !== 'active')
    return reason('daemon_not_running', `${microk8s.unit?.name} is ${microk8s.unit?.activeState}: start it first`);
  return null;
}

/** The template as one file of containerd's: variables of the snap stand in its texts alone. */
function homeOf({ template }: MicroK8sFact, config: TemplateConfig): Home {
  const { schema, defaultRuntime, enableCdi, disabledPlugins } = config;
  // The type of all its entries is filled in at a start, as that of runc.
  const runtimes = config.runtimes.map((entry) => (isFilledIn(entry.type) ? { ...entry, type: runcType } : entry));
  const told = { path: template.path, version: schema, empty: false, hasCri: true };
  const layer = { ...told, runtimes, defaultRuntime, enableCdi, disabledPlugins, criPlugin: pluginOf(schema) };
  return { layer, schema, baseSha256: template.sha256, isNew: false };
}

/** A variable of the snap's start script. */
function isFilledIn(value: string | null): boolean {
  return value?.startsWith('$') ?? false;
}

function editsFor(microk8s: MicroK8sFact, home: Home, params: ConfigureRuntimeParams, binary: string): KeyEdit[] {
  const name = params.runtimeName;
  const { rendered, live } = microk8s;
  const stated = home.layer.defaultRuntime ?? 'runc';
  // What came of it at the last start is what it means.
  const isVariable = isFilledIn(stated);
  const now = isVariable ? ((live ?? rendered)?.defaultRuntime ?? stated) : stated;
  const edits = [...runcEdits(home, rules, now), ...entryEdits(home, name, binary, false)];
  const isDefault = now === name && !(isVariable && params.setAsDefault === true);
  if (params.setAsDefault !== undefined && params.setAsDefault !== isDefault)
    edits.push({
      op: 'set',
      path: [...criPath(home), 'containerd', 'default_runtime_name'],
      value: params.setAsDefault ? name : 'runc',
    });
  if (params.cdi !== undefined && params.cdi !== (home.layer.enableCdi ?? rendered?.enableCdi ?? false))
    edits.push({ op: 'set', path: [...criPath(home), 'enable_cdi'], value: params.cdi });
  return edits;
}

/**
 * What the running containerd does not have. MicroK8s brings no crictl: without one of the host's, what was made of the
 * template at the last start stands in for the answer.
 */
export function whatLiveLacks(microk8s: MicroK8sFact, params: ConfigureRuntimeParams): PlanReason[] {
  const running = microk8s.live ?? microk8s.rendered;
  if (running === null)
    return [reason('daemon_not_answering', 'MicroK8s shows neither a live nor a written configuration')];
  const name = params.runtimeName;
  const lacks: PlanReason[] = [];
  if (!running.runtimes.some((runtime) => runtime.name === name))
    lacks.push(reason('live_lacks_runtime', `the containerd of MicroK8s does not list ${name}`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (running.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `the default runtime is ${running.defaultRuntime ?? 'not told'}`));
  return lacks;
}
