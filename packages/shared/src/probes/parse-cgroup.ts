export interface CgroupOwner {
  /** The unit that a person would stop; null for what a container runs. */
  unit: string | null;
  /** The innermost service, a container's own too. */
  service: string | null;
  /** It runs in a container: its paths are not the host's. */
  inContainer: boolean;
  containerId: string | null;
  pod: string | null;
}

const container = /^(?:(?:docker|cri-containerd|crio|libpod|containerd)-)?([0-9a-f]{64})(?:\.scope)?$/;
const pod =
  /^(?:kubepods(?:-burstable|-besteffort)?-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\.slice)?$/;
const unit = /^[^/]+\.(?:service|scope)$/;
const containers = /(^|\/)(docker|cri-containerd|crio|libpod|kubepods)[-./:]|\/kubepods|\/lxc\/|\/[0-9a-f]{64}(\/|$)/;

/**
 * `/proc/<pid>/cgroup`, of either version: whose process this is. Of several hierarchies the first that names a
 * container counts, else the first that names a unit.
 */
export function parseCgroup(text: string): CgroupOwner {
  const paths = text
    .slice(0, 16_384)
    .split('\n')
    .flatMap((line) => /^\d+:[^:]*:(\/.*)$/.exec(line.trim())?.[1] ?? []);
  const owners = paths.map(toOwner);
  const nobody = { unit: null, containerId: null, pod: null };
  const owner =
    owners.find(({ containerId }) => containerId !== null) ?? owners.find((one) => one.unit !== null) ?? nobody;
  const services = paths.flatMap((path) => path.split('/').findLast((part) => part.endsWith('.service')) ?? []);
  // A unit may be called docker.service: what is around it counts, not its own name.
  const around = paths.map((path) => path.replace(/[^/]*\.service/g, ''));
  return { ...owner, service: services[0] ?? null, inContainer: around.some((path) => containers.test(path)) };
}

function toOwner(path: string): Pick<CgroupOwner, 'unit' | 'containerId' | 'pod'> {
  // The innermost says most: a service that a container runs is the container's.
  const parts = path.split('/').reverse();
  const first = (pattern: RegExp) => parts.map((part) => pattern.exec(part)?.[1] ?? null).find((one) => one !== null);
  const containerId = first(container) ?? null;
  return {
    // The scope of a container is no unit that a person would stop.
    unit: containerId === null ? (parts.find((part) => unit.test(part)) ?? null) : null,
    containerId,
    pod: first(pod)?.replaceAll('_', '-') ?? null,
  };
}
