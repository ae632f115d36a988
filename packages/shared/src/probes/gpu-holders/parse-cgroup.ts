export interface CgroupOwner {
  unit: string | null;
  containerId: string | null;
  pod: string | null;
}

const container = /^(?:(?:docker|cri-containerd|crio|libpod|containerd)-)?([0-9a-f]{64})(?:\.scope)?$/;
const pod =
  /^(?:kubepods(?:-burstable|-besteffort)?-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\.slice)?$/;
const unit = /^[^/]+\.(?:service|scope)$/;

/**
 * `/proc/<pid>/cgroup`, of either version: whose process this is. Of several hierarchies the first that names a
 * container counts, else the first that names a unit.
 */
export function parseCgroup(text: string): CgroupOwner {
  const owners = text
    .slice(0, 16_384)
    .split('\n')
    .flatMap((line) => /^\d+:[^:]*:(\/.*)$/.exec(line.trim())?.[1] ?? [])
    .map(toOwner);
  const none = { unit: null, containerId: null, pod: null };
  return owners.find(({ containerId }) => containerId !== null) ?? owners.find((owner) => owner.unit !== null) ?? none;
}

function toOwner(path: string): CgroupOwner {
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
