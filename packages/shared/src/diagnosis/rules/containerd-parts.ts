import type { JobRequest } from '../../jobs/job-request.ts';
import type { FactValue } from '../../probes/facts.ts';
import { sources } from '../sources.ts';

type Containerd = FactValue<'containerd'>;

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

export function liveRuntimes(containerd: Containerd): { source: string; names: string[] } | null {
  const runtimes = containerd.live?.runtimes;
  return runtimes ? { source: sources.crictl, names: runtimes.map(({ name }) => name) } : null;
}
