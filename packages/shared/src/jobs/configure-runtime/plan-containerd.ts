import type { ContainerdFact } from '../../probes/containerd/fact.ts';
import type { KubeFact } from '../../probes/kube/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { isOlderThan } from '../../probes/versions.ts';
import { noop, reason, restartUnit, startUnit, unitProblem } from '../plan-parts.ts';
import type { Plan, PlanReason, Step } from '../step.ts';
import { isCri, runcEdits } from './containerd-edits.ts';
import { editsByFile, futureDefault, type Given, homeOf, missingDefault } from './containerd-files.ts';
import { isRaised, losesSchema1, mergedOf, rulesOf, toLayers, toldLayers } from './containerd-layers.ts';
import { usesSystemd, whatLiveLacks } from './containerd-live.ts';
import { mendLayers } from './containerd-repairs.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { wantedBinary } from './runtime-binary.ts';

type Facts = { containerd: ContainerdFact; toolkit: ToolkitFact; kube: KubeFact };

const unitName = 'containerd.service';

export function planContainerd({ containerd, toolkit, kube }: Facts, params: ConfigureRuntimeParams): Plan {
  const blockedBy = (problem: PlanReason): Plan => ({ outcome: 'blocked', because: [problem] });
  const given = givenOf(containerd, kube, params);
  if ('because' in given) return blockedBy(given);
  const home = homeOf(given);
  if ('because' in home) return blockedBy(home);
  const inUse = home.layer.runtimes.find(({ name }) => name === params.runtimeName)?.binary ?? null;
  const binary = wantedBinary(toolkit, params.runtimePath, inUse, 'absolute');
  if (!binary.ok) return blockedBy(binary.problem);
  const future = missingDefault(given, home);
  if (future) return blockedBy(future);

  const isDown = containerd.unit?.activeState !== 'active';
  const keptDown = given.repairs.size > 0 || runcEdits(home, given.rules, futureDefault(given)).length > 0;
  if (isDown && !keptDown)
    return blockedBy(reason('daemon_not_running', `${unitName} is ${containerd.unit?.activeState}: start it first`));
  const files = editsByFile(given, home, binary.path);
  const lacks = whatLiveLacks({ containerd, kube }, params, binary.path);
  const edits = [...files.values()].flatMap((file) => file.edits);
  if (edits.length === 0 && lacks.length === 0)
    return noop('already_configured', `containerd runs with ${params.runtimeName} as asked`);
  const steps = [...files.values()].map(({ home: { layer, baseSha256 }, edits }): Step => {
    return { do: 'edit_file', path: layer.path, format: 'toml', baseSha256, edits, newMode: 0o644 };
  });
  // The live daemon tells its runtimes, not its CDI switch nor the plugins it was told to leave out.
  const untold = edits.some((edit) =>
    ['enable_cdi', 'disabled_plugins', 'runtime_type'].includes(edit.path.at(-1) ?? ''),
  );
  if (isDown) steps.push(startUnit('containerd'));
  else if (lacks.length > 0 || untold) steps.push(restartUnit('containerd', keptDown));
  const because = [...edits.map((edit) => reason('file_differs', edit.path.join('.'))), ...lacks];
  return { outcome: 'plan', because, steps, holders: [] };
}

/** What the plan is made from, or why there can be none. */
function givenOf(containerd: ContainerdFact, kube: KubeFact, params: ConfigureRuntimeParams): Given | PlanReason {
  const problem = whyNot(containerd, params);
  if (problem) return problem;
  const rules = rulesOf(containerd.version);
  const told = toldLayers(containerd);
  if (told === null) return reason('imports_not_told', 'which of the imported files holds the runtimes is not known');
  const mended = mendLayers(containerd, told, rules);
  if (!mended.ok) return mended.problem;
  const layers = toLayers(mended.layers, rules);
  const repairs = mended.edits;
  const merged = mergedOf(containerd, layers, rules);
  if (merged.disabledPlugins.some(isCri) && !params.enableCri)
    return reason('cri_disabled', 'the CRI plugin is disabled here: ask for enableCri as well');
  if (params.cdi && isOlderThan(containerd.version, [1, 7]))
    return reason('engine_too_old', `containerd ${containerd.version} has no CDI: 1.7 is the first`);
  return { containerd, params, rules, layers, merged, repairs, usesSystemd: usesSystemd(containerd, kube) };
}

function whyNot(containerd: ContainerdFact, params: ConfigureRuntimeParams): PlanReason | null {
  const { installed, unit, files, effective, live, version } = containerd;
  if (!installed) return reason('not_installed', 'there is no containerd of its own on this host');
  const noUnit = unitProblem(unit, unitName);
  if (noUnit) return noUnit;
  if (unit?.name !== unitName) return reason('unit_unknown', `this containerd runs in ${unit?.name}, not ${unitName}`);
  const root = files[0];
  if (params.configPath !== undefined && root !== undefined && params.configPath !== root.path)
    return reason('config_path_not_read', `this containerd reads ${root.path}, not ${params.configPath}`);
  const broken = files.find((file) => file.error !== null);
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (effective === null && containerd.layers === undefined)
    return reason('config_invalid', 'containerd could not merge its files, or not all of them were readable');
  if (effective && root?.present && effective.schema > rulesOf(version).maxSchema)
    return reason(
      'schema_unsupported',
      `containerd ${version ?? '?'} with a configuration of schema ${effective.schema}`,
    );
  const layers = toldLayers(containerd);
  if (losesSchema1(containerd) && layers?.some((layer) => !layer.empty && !isRaised(containerd, layer)))
    return reason(
      'schema_unsupported',
      'containerd 2 passes over runtimes in a file of version 1: bring it to version 3 first (containerd config migrate)',
    );
  if (live === null && unit.activeState === 'active')
    return reason('daemon_not_answering', 'neither crictl nor ctr get an answer: a change could not be verified');
  return null;
}
