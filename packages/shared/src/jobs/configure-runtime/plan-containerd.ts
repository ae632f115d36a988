import type { ContainerdFact } from '../../probes/containerd/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { noop, reason, restartUnit, unitProblem } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import { isOlderThan } from '../version-parts.ts';
import { disabledPluginEdits, entryEdits, isCri, runcEdits } from './containerd-edits.ts';
import {
  type ContainerdRules,
  criPath,
  type Home,
  isRaised,
  layersOf,
  losesSchema1,
  owningLayer,
  rulesOf,
  toHome,
} from './containerd-layers.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { wantedBinary } from './runtime-binary.ts';

type Facts = { containerd: ContainerdFact; toolkit: ToolkitFact };

export function planContainerd({ containerd, toolkit }: Facts, params: ConfigureRuntimeParams): Plan {
  const problem = whyNot(containerd, params);
  if (problem) return { outcome: 'blocked', because: [problem] };
  const rules = rulesOf(containerd.version);
  const home = homeOf(containerd, params, rules);
  if ('because' in home) return { outcome: 'blocked', because: [home] };
  const inUse = home.layer.runtimes.find(({ name }) => name === params.runtimeName)?.binary ?? null;
  const binary = wantedBinary(toolkit, params.runtimePath, inUse, 'absolute');
  if (!binary.ok) return { outcome: 'blocked', because: [binary.problem] };
  const future = missingDefault(containerd, home, params);
  if (future) return { outcome: 'blocked', because: [future] };

  const files = editsByFile(containerd, params, home, rules, binary.path);
  const lacks = whatLiveLacks(containerd, params, binary.path);
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
  if (lacks.length > 0 || untold) steps.push(restartUnit('containerd'));
  const because = [...edits.map((edit) => reason('file_differs', edit.path.join('.'))), ...lacks];
  return { outcome: 'plan', because, steps, holders: [] };
}

function whyNot(containerd: ContainerdFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!containerd.installed) return reason('not_installed', 'there is no containerd of its own on this host');
  const unit = unitProblem(containerd.unit, 'containerd.service');
  if (unit) return unit;
  const root = containerd.files[0];
  if (params.configPath !== undefined && root !== undefined && params.configPath !== root.path)
    return reason('config_path_not_read', `this containerd reads ${root.path}, not ${params.configPath}`);
  const broken = containerd.files.find((file) => file.error !== null);
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (containerd.effective === null)
    return reason('config_invalid', 'containerd could not merge its files, or not all of them were readable');
  const { schema, disabledPlugins } = containerd.effective;
  if (root?.present && schema > rulesOf(containerd.version).maxSchema)
    return reason(
      'schema_unsupported',
      `containerd ${containerd.version ?? '?'} with a configuration of schema ${schema}`,
    );
  const layers = layersOf(containerd);
  if (losesSchema1(containerd) && layers?.some((layer) => !layer.empty && !isRaised(containerd, layer)))
    return reason(
      'schema_unsupported',
      'containerd 2 passes over runtimes in a file of version 1: bring it to version 3 first (containerd config migrate)',
    );
  if (containerd.live === null) {
    if (containerd.unit?.activeState === 'active')
      return reason('daemon_not_answering', 'neither crictl nor ctr get an answer: a change could not be verified');
    return reason(
      'daemon_not_running',
      `containerd.service is ${containerd.unit?.activeState ?? 'unknown'}: start it first`,
    );
  }
  if (disabledPlugins.some(isCri) && !params.enableCri)
    return reason('cri_disabled', 'the CRI plugin is disabled here: ask for enableCri as well');
  if (params.cdi && isOlderThan(containerd.version, [1, 7]))
    return reason('engine_too_old', `containerd ${containerd.version} has no CDI: 1.7 is the first`);
  return null;
}

/** The file that gets the runtime: the one asked for, the one that counts now, else the root file. */
function homeOf(containerd: ContainerdFact, params: ConfigureRuntimeParams, rules: ContainerdRules): Home | PlanReason {
  const layers = layersOf(containerd);
  if (layers === null) return reason('imports_not_told', 'which of the imported files holds the runtimes is not known');
  const rootPath = containerd.files[0]?.path ?? '/etc/containerd/config.toml';
  const rootLayer = layers.find((layer) => layer.path === rootPath);
  // containerd 2.x moves old names over to new ones, and what already stands there wins over what we would write.
  const isMixed = containerd.rootConfig?.runtimes.some(
    ({ name }) => !rootLayer?.runtimes.some((own) => own.name === name),
  );
  if (isMixed && !rules.losesBuiltInRunc)
    return reason('mixed_schema', `${rootPath} has runtimes under the names of another schema than its version's`);
  const root = toHome(containerd, rootLayer, rootPath, rules.newSchema);
  if (params.dropInPath !== undefined) {
    const others = layers.some((layer) => layer.hasCri && layer.path !== params.dropInPath);
    if (others && !rules.mergesPlugins)
      return reason(
        'drop_in_would_shadow',
        'before containerd 2.1 a drop-in replaces the CRI section of the other files',
      );
    const layer = layers.find(({ path }) => path === params.dropInPath);
    return toHome(containerd, layer, params.dropInPath, root.schema);
  }
  const owner = owningLayer(layers, params.runtimeName, rules);
  return owner ? toHome(containerd, owner, owner.path, root.schema) : root;
}

/** containerd 1.x does not load CRI when its default runtime has no table; that default is not ours to choose. */
function missingDefault(containerd: ContainerdFact, home: Home, params: ConfigureRuntimeParams): PlanReason | null {
  const now = containerd.effective?.defaultRuntime ?? 'runc';
  if (params.setAsDefault || now === 'runc' || now === params.runtimeName) return null;
  if (!rulesOf(containerd.version).losesBuiltInRunc) return null;
  if (home.layer.runtimes.some(({ name }) => name === now)) return null;
  return reason(
    'default_runtime_missing',
    `the default runtime ${now} has no table: a person must say what it is to be`,
  );
}

type FileEdits = Map<string, { home: Home; edits: KeyEdit[] }>;

function editsByFile(
  containerd: ContainerdFact,
  params: ConfigureRuntimeParams,
  home: Home,
  rules: ContainerdRules,
  binary: string,
): FileEdits {
  const files: FileEdits = new Map();
  const layers = layersOf(containerd) ?? [];
  const add = (target: Home, edits: KeyEdit[]) => {
    if (edits.length === 0) return;
    const version: KeyEdit[] = target.isNew ? [{ op: 'set', path: ['version'], value: target.schema }] : [];
    const file = files.get(target.layer.path) ?? { home: target, edits: version };
    files.set(target.layer.path, { home: target, edits: [...file.edits, ...edits] });
  };
  const homeOfLast = (says: (layer: (typeof layers)[number]) => boolean): Home => {
    const last = rules.mergesPlugins ? layers.findLast(says) : undefined;
    return last && last.path !== home.layer.path ? toHome(containerd, last, last.path, home.schema) : home;
  };
  const { effective } = containerd;
  const defaultRuntime = effective?.defaultRuntime ?? 'runc';
  const name = params.runtimeName;
  add(home, [
    ...runcEdits(home, rules, params.setAsDefault ? name : defaultRuntime),
    ...entryEdits(home, name, binary),
  ]);
  if (params.setAsDefault !== undefined && params.setAsDefault !== (defaultRuntime === name)) {
    const target = homeOfLast((layer) => layer.defaultRuntime !== null);
    const value = params.setAsDefault ? name : 'runc';
    add(target, [{ op: 'set', path: [...criPath(target), 'containerd', 'default_runtime_name'], value }]);
  }
  if (params.cdi !== undefined && params.cdi !== (effective?.enableCdi ?? false)) {
    const target = homeOfLast((layer) => layer.enableCdi !== null);
    add(target, [{ op: 'set', path: [...criPath(target), 'enable_cdi'], value: params.cdi }]);
  }
  if (params.enableCri)
    for (const layer of layers) add(toHome(containerd, layer, layer.path, home.schema), disabledPluginEdits(layer));
  return withImport(containerd, params, rules, files);
}

/** A drop-in that no file imports is never read. It is written first: 1.x exits on an import that is not there. */
function withImport(
  containerd: ContainerdFact,
  params: ConfigureRuntimeParams,
  rules: ContainerdRules,
  files: FileEdits,
): FileEdits {
  const { dropInPath } = params;
  if (dropInPath === undefined || containerd.files.some((file) => file.present && file.path === dropInPath))
    return files;
  const rootPath = containerd.files[0]?.path ?? '/etc/containerd/config.toml';
  const layer = layersOf(containerd)?.find(({ path }) => path === rootPath);
  const home = toHome(containerd, layer, rootPath, rules.newSchema);
  const version: KeyEdit[] = home.isNew ? [{ op: 'set', path: ['version'], value: home.schema }] : [];
  const earlier = files.get(rootPath)?.edits ?? version;
  files.delete(rootPath);
  files.set(rootPath, { home, edits: [...earlier, { op: 'append', path: ['imports'], value: dropInPath }] });
  return files;
}

/** What the running daemon does not have of what was asked; the verification asks the same. */
export function whatLiveLacks(
  containerd: ContainerdFact,
  params: ConfigureRuntimeParams,
  binary: string | null,
): PlanReason[] {
  const { live, unit, files } = containerd;
  if (live === null) return [reason('daemon_not_answering', 'neither crictl nor ctr get an answer')];
  if (!live.criReady) return [reason('cri_not_ready', 'the CRI plugin is not loaded')];
  const name = params.runtimeName;
  const lacks: PlanReason[] = [];
  if (live.runtimes === null) {
    // ctr cannot list runtimes: what was read at the start is all there is to go by.
    const stale = files.some((file) => isNewerThanStart(file.mtimeMs, unit));
    if (stale) lacks.push(reason('started_before_files', 'containerd was started before its files were changed'));
    return lacks;
  }
  const entry = live.runtimes.find((runtime) => runtime.name === name);
  if (!entry) lacks.push(reason('live_lacks_runtime', `crictl info does not list ${name}`));
  else if (binary !== null && entry.binary !== null && entry.binary !== binary)
    lacks.push(reason('live_binary_differs', `the running containerd uses ${entry.binary} for ${name}`));
  const runc = live.runtimes.find((runtime) => runtime.name === 'runc');
  if (entry && runc?.systemdCgroup && entry.systemdCgroup === false)
    lacks.push(reason('live_cgroup_differs', `${name} does not use the systemd cgroup driver, as runc does`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (live.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `containerd's default runtime is ${live.defaultRuntime ?? 'not told'}`));
  return lacks;
}
