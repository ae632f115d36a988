import type { JobRequest } from '../../jobs/job-request.ts';
import type { FactValue } from '../../probes/facts.ts';
import type { Asked } from '../define-rule.ts';
import { hostSocket, knowsNvidia } from '../host-questions.ts';

type Containerd = FactValue<'containerd'>;
type AsksContainerd = Pick<Asked<'containerd'>, 'unread'>;
type Unmatched = NonNullable<Containerd['unmatched']>[number];

const defaultRoot = '/etc/containerd/config.toml';

/** The configuration file that the running containerd was started with. */
export function rootPath(containerd: Containerd): string {
  return containerd.files[0]?.path ?? defaultRoot;
}

/** The file of those read that holds the runtime nvidia; the last one that has it wins. */
export function fileWithRuntime(containerd: Containerd): string {
  return containerd.layers?.findLast(({ runtimes }) => knowsNvidia(runtimes))?.path ?? rootPath(containerd);
}

export function containerdJob(containerd: Containerd, params: JobRequest['params'] = {}): JobRequest {
  const path = rootPath(containerd);
  return {
    kind: 'configure_runtime',
    params: { runtime: 'containerd', ...(path === defaultRoot ? {} : { configPath: path }), ...params },
  };
}

/** Jobs write in containerd's own folder and nowhere else. */
export function isWritable(path: string): boolean {
  return path.startsWith('/etc/containerd/');
}

/** Which no job does: what the settings of a version 1 file mean to containerd 2 is for a person to say. */
export function isLeftAtVersion1({ effective, version }: Containerd): boolean {
  return (effective?.schema ?? 2) <= 1 && !/^1\./.test(version ?? '');
}

export function bringToVersion3(path: string): string {
  return `Bring ${path} to version 3: containerd config migrate prints it so. Then give it the runtime nvidia.`;
}

const criPlugins = ['cri', 'io.containerd.grpc.v1.cri', 'io.containerd.cri.v1.runtime'];

/** The file that switches CRI off, and by which name; an import can do it as well, since the lists are joined. */
export function criOffIn({ layers, rootConfig, files }: Containerd): { path: string; disabled: string } | null {
  const read =
    layers ?? (rootConfig ? [{ path: files[0]?.path ?? '', disabledPlugins: rootConfig.disabledPlugins }] : []);
  for (const { path, disabledPlugins } of read) {
    const disabled = disabledPlugins.find((plugin) => criPlugins.includes(plugin));
    if (disabled !== undefined) return { path, disabled };
  }
  return null;
}

/** The job for a containerd that runs pods: where CRI is off, a runtime alone would change nothing for them. */
export function containerdJobForPods(containerd: Containerd): JobRequest {
  return containerdJob(containerd, criOffIn(containerd) === null ? {} : { enableCri: true });
}

export function crictlSource(containerd: Containerd): string {
  return `command:crictl --runtime-endpoint unix://${hostSocket(containerd)} info`;
}

export function versionSource({ instances = [], binary }: Containerd): string {
  const isOnlyOne = instances.filter(({ of }) => of === 'host').length <= 1;
  return `command:${isOnlyOne ? 'containerd' : (binary ?? 'containerd')} --version`;
}

export function liveRuntimes(containerd: Containerd): { source: string; names: string[] } | null {
  const runtimes = containerd.live?.runtimes;
  return runtimes ? { source: crictlSource(containerd), names: runtimes.map(({ name }) => name) } : null;
}

/** Files in containerd's folder that have a runtime nvidia and that this containerd does not read. */
export function unreadNvidia({ unmatched = [] }: Containerd): Unmatched[] {
  return unmatched.filter(({ runtimes }) => runtimes.some(({ name }) => name === 'nvidia'));
}

/** It runs with the configuration that every tool takes for its own. */
export function readsDefaultRoot(containerd: Containerd): boolean {
  return rootPath(containerd) === defaultRoot;
}

type Kube = { runtimeClasses: { handler: string }[] | null; node: { allocatable: Record<string, string> } | null };

/** A RuntimeClass names the handler nvidia. */
export function expectsNvidia(kube: Kube): boolean {
  return kube.runtimeClasses?.some(({ handler }) => handler === 'nvidia') ?? false;
}

/** The node already offers GPUs and nothing names the handler: devices come by CDI. */
export function worksWithoutIt(kube: Kube): boolean {
  if (expectsNvidia(kube)) return false;
  return Object.entries(kube.node?.allocatable ?? {}).some(
    ([name, count]) => /^nvidia\.com\//.test(name) && count !== '0',
  );
}

/** Releases before 2.0 end on an import that is named in full and is not there. */
export function missingImport({ version }: Containerd, asked: AsksContainerd): string | null {
  const gap = asked.unread('containerd', 'files');
  return version?.startsWith('1.') ? (/^import_absent: (.+)$/.exec(gap ?? '')?.[1] ?? null) : null;
}

/** Why it is not known what the files come to: the broken one and its line, where it is one. */
export function whyNoEffective(containerd: Containerd, asked: AsksContainerd): string {
  const broken = containerd.files.find(({ error }) => error !== null);
  if (broken) return `${broken.path}: ${broken.error}`;
  return asked.unread('containerd', 'files') ?? asked.unread('containerd', 'effective') ?? 'no reason given';
}

/** Its files are read and no configuration comes of them: the versions are at fault, and a rule of their own tells it. */
export const versionRefusals: Record<string, string> = {
  schema_not_supported: 'it does not know this version',
  import_has_newer_schema: 'a drop-in may not have a newer version than the root file',
  short_plugin_name: 'since version 2 a plugin is named in full, and a short name is refused',
};

/** What rules say that would ask the effective configuration; null: it is known, or why not is a finding already. */
export function untoldEffective(containerd: Containerd, asked: AsksContainerd): { cannotTell: string } | null {
  if (!containerd.installed || containerd.effective !== null) return null;
  if (Object.hasOwn(versionRefusals, asked.unread('containerd', 'effective') ?? '')) return null;
  return { cannotTell: `what the files of containerd come to is not known: ${whyNoEffective(containerd, asked)}` };
}
