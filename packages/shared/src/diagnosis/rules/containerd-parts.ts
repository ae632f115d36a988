import type { JobRequest } from '../../jobs/job-request.ts';
import type { FactValue } from '../../probes/facts.ts';
import { hostSocket } from '../host-questions.ts';

type Containerd = FactValue<'containerd'>;
type Unmatched = NonNullable<Containerd['unmatched']>[number];

const defaultRoot = '/etc/containerd/config.toml';

/** The configuration file that the running containerd was started with. */
export function rootPath(containerd: Containerd): string {
  return containerd.files[0]?.path ?? defaultRoot;
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
