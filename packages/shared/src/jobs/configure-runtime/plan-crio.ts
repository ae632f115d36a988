import type { CrioFact, CrioLayer } from '../../probes/crio/fact.ts';
import type { ToolkitFact } from '../../probes/toolkit/fact.ts';
import { noop, reason, restartUnit, unitProblem } from '../plan-parts.ts';
import type { KeyEdit, Plan, PlanReason, Step } from '../step.ts';
import type { ConfigureRuntimeParams } from './params.ts';
import { wantedBinary } from './runtime-binary.ts';

type Facts = { crio: CrioFact; toolkit: ToolkitFact };

const rootPath = '/etc/crio/crio.conf';
const dropInFolder = '/etc/crio/crio.conf.d/';
/** The name that NVIDIA's tool uses: one file of that kind is enough on a host. */
const usualDropIn = `${dropInFolder}99-nvidia.toml`;

export function planCrio({ crio, toolkit }: Facts, params: ConfigureRuntimeParams): Plan {
  const blockedBy = (problem: PlanReason): Plan => ({ outcome: 'blocked', because: [problem] });
  const problem = whyNot(crio, params);
  if (problem) return blockedBy(problem);
  const layers = crio.layers ?? [];
  const home = homeOf(layers, params);
  if ('because' in home) return blockedBy(home);
  const inUse = crio.runtimes.find(({ name }) => name === params.runtimeName)?.binary ?? null;
  const binary = wantedBinary(toolkit, params.runtimePath, inUse, 'absolute');
  if (!binary.ok) return blockedBy(binary.problem);
  const files = editsByFile(crio, layers, params, home.path, binary.path);
  const lacks = whatLiveLacks(crio, params, binary.path);
  if (files.size === 0 && lacks.length === 0)
    return noop('already_configured', `CRI-O runs with ${params.runtimeName} as asked`);
  const steps = [...files].map(([path, edits]): Step => {
    const file = crio.files.find((candidate) => candidate.path === path);
    const baseSha256 = file?.present ? file.sha256 : null;
    return { do: 'edit_file', path, format: 'toml', baseSha256, edits, newMode: 0o644 };
  });
  if (lacks.length > 0) steps.push(restartUnit('crio'));
  const edits = [...files.values()].flat();
  const because = [...edits.map((edit) => reason('file_differs', edit.path.join('.'))), ...lacks];
  return { outcome: 'plan', because, steps, holders: [] };
}

function whyNot(crio: CrioFact, params: ConfigureRuntimeParams): PlanReason | null {
  if (!crio.installed) return reason('not_installed', 'there is no CRI-O on this host');
  const unit = unitProblem(crio.unit, 'crio.service');
  if (unit) return unit;
  if (params.configPath !== undefined && params.configPath !== rootPath)
    return reason('config_path_not_read', `CRI-O reads ${rootPath}, not ${params.configPath}`);
  if (params.enableCri !== undefined) return reason('unsupported_for_runtime', 'CRI-O has nothing but CRI');
  if (params.cdi === false) return reason('unsupported_for_runtime', 'CDI of CRI-O cannot be switched off');
  const broken = crio.files.find((file) => file.error !== null);
  if (broken) return reason('config_invalid', `${broken.path}: ${broken.error}`);
  if (crio.layers === undefined)
    return reason('imports_not_told', 'which of the files holds the handlers is not known');
  const unread = crio.files.find(({ path, present }) => present && !crio.layers?.some((layer) => layer.path === path));
  if (unread) return reason('config_invalid', `${unread.path} is not readable`);
  if (crio.live !== null) return null;
  if (crio.unit?.activeState === 'active')
    return reason('daemon_not_answering', 'crio status config gives no answer: a change could not be verified');
  return reason('daemon_not_running', `crio.service is ${crio.unit?.activeState ?? 'unknown'}: start it first`);
}

/** A drop-in, never crio.conf: the last one that has the handler, since a later file's entry replaces it whole. */
function homeOf(layers: readonly CrioLayer[], params: ConfigureRuntimeParams): { path: string } | PlanReason {
  const owner = layers.findLast(({ runtimes }) => runtimes.some(({ name }) => name === params.runtimeName));
  const owning = owner?.path.startsWith(dropInFolder) ? owner.path : null;
  const { dropInPath } = params;
  if (dropInPath === undefined) return { path: owning ?? usualDropIn };
  if (!dropInPath.startsWith(dropInFolder) || dropInPath.slice(dropInFolder.length).includes('/'))
    return reason('config_path_not_read', `CRI-O reads drop-ins in ${dropInFolder} alone`);
  if (owning !== null && owning > dropInPath)
    return reason('drop_in_would_shadow', `${owning} has ${params.runtimeName} too, and is read after ${dropInPath}`);
  return { path: dropInPath };
}

function editsByFile(
  crio: CrioFact,
  layers: readonly CrioLayer[],
  params: ConfigureRuntimeParams,
  home: string,
  binary: string,
): Map<string, KeyEdit[]> {
  const files = new Map<string, KeyEdit[]>();
  const entry = entryEdits(crio, layers, params.runtimeName, home, binary);
  if (entry.length > 0) files.set(home, entry);
  const isDefault = crio.defaultRuntime === params.runtimeName;
  if (params.setAsDefault === undefined || params.setAsDefault === isDefault) return files;
  // The last file that says a word of it counts; crio.conf is read first, so a drop-in always has the last word.
  const last = layers.findLast((layer) => layer.defaultRuntime !== null && layer.path.startsWith(dropInFolder));
  const path = last !== undefined && last.path > home ? last.path : home;
  const value = params.setAsDefault ? params.runtimeName : ordinaryRuntime(crio, layers, params.runtimeName);
  files.set(path, [...(files.get(path) ?? []), { op: 'set', path: ['crio', 'runtime', 'default_runtime'], value }]);
  return files;
}

/** An entry of this file keeps what is not ours; a new one gets what the handler of ordinary containers has. */
function entryEdits(
  crio: CrioFact,
  layers: readonly CrioLayer[],
  name: string,
  home: string,
  binary: string,
): KeyEdit[] {
  const table = ['crio', 'runtime', 'runtimes', name];
  const inHome = layers.find(({ path }) => path === home)?.runtimes.find((entry) => entry.name === name);
  const merged = crio.runtimes.find((entry) => entry.name === name);
  const isRight = (entry: typeof merged) => entry?.binary === binary && [null, 'oci'].includes(entry.type);
  if (isRight(merged)) return [];
  const inherited = inHome ? {} : (crio.model?.settings ?? {});
  const settings = { ...inherited, runtime_path: binary, runtime_type: 'oci' };
  return Object.entries(settings).map(([key, value]) => ({ op: 'set', path: [...table, key], value }));
}

/** What was the default before: of the files, else the one that is built in. */
function ordinaryRuntime(crio: CrioFact, layers: readonly CrioLayer[], name: string): string {
  const earlier = layers.findLast(({ defaultRuntime }) => defaultRuntime !== null && defaultRuntime !== name);
  const built = crio.runtimes.find((entry) => ['crun', 'runc'].includes(entry.name));
  return earlier?.defaultRuntime ?? built?.name ?? 'crun';
}

/** What the running daemon does not have of what was asked; the verification asks the same. */
export function whatLiveLacks(crio: CrioFact, params: ConfigureRuntimeParams, binary: string | null): PlanReason[] {
  const { live } = crio;
  if (live === null) return [reason('daemon_not_answering', 'crio status config gives no answer')];
  const name = params.runtimeName;
  const lacks: PlanReason[] = [];
  const entry = live.runtimes.find((runtime) => runtime.name === name);
  if (!entry) lacks.push(reason('live_lacks_runtime', `crio status config does not list ${name}`));
  else if (binary !== null && entry.binary !== null && entry.binary !== binary)
    lacks.push(reason('live_binary_differs', `the running CRI-O uses ${entry.binary} for ${name}`));
  if (params.setAsDefault !== undefined && params.setAsDefault !== (live.defaultRuntime === name))
    lacks.push(reason('live_default_differs', `CRI-O's default runtime is ${live.defaultRuntime ?? 'not told'}`));
  return lacks;
}
