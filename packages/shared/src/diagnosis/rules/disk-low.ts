import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { sources } from '../sources.ts';

type Mount = FactValue<'disk'>['mounts'][number];
type Root = FactValue<'disk'>['dataRoots'][number];

const gib = 1024 ** 3;
/** An image with CUDA unpacks to about this, beside what was downloaded of it. */
const imageBytes = 10 * gib;
/** The agent keeps copies of what jobs change, and a journal. */
const agentBytes = gib / 2;
/** Below these the kubelet evicts pods, unless it is told otherwise. */
const kubeletShare = 0.1;
const inodeShare = 0.05;

export const diskLow = defineRule({
  code: 'DISK_LOW',
  layer: 'host',
  severity: 'warning',
  title:
    'Less than 10 GiB, or what the kubelet wants, is free where an engine keeps its images; or inodes run out there',
  notWhen: 'space is low elsewhere; file systems that make inodes as they need them',
  proposes: [],
  needs: ['disk'],
  check({ disk }, asked) {
    const found = new Map<string, Found>();
    const kubelet = disk.dataRoots.some(({ of }) => ['kubelet', 'k3s', 'rke2', 'microk8s'].includes(of));
    const untold: string[] = [];
    for (const root of disk.dataRoots) {
      const mount = disk.mounts.find(({ path }) => path === root.mount);
      if (mount === undefined) untold.push(`the file system of ${root.path} is not among those that df lists`);
      else if (mount.availableBytes === null) untold.push(`df does not say what is free on ${mount.path}`);
      if (mount === undefined || found.has(mount.path)) continue;
      const finding = lowInodes(root, mount) ?? lowSpace(root, mount, kubelet);
      if (finding) found.set(mount.path, finding);
    }
    const [first] = untold;
    if (found.size > 0 || first === undefined) return [...found.values()];
    const because = asked.unread('disk', 'mounts');
    return { cannotTell: because === null ? first : `${first}: ${because}` };
  },
});

function lowSpace({ of, path }: Root, mount: Mount, kubelet: boolean): Found | null {
  const { availableBytes, sizeBytes } = mount;
  if (availableBytes === null) return null;
  const share = sizeBytes ? availableBytes / sizeBytes : 1;
  const isLow =
    of === 'agent' ? availableBytes < agentBytes : availableBytes < imageBytes || (kubelet && share < kubeletShare);
  if (!isLow) return null;
  const clean =
    of === 'agent'
      ? 'Make room on that file system'
      : `Remove images that nothing uses (${of === 'docker' ? 'docker image prune' : 'crictl rmi --prune'}), or move ${path} to a larger disk`;
  return {
    subject: `file:${path}`,
    severity: 'warning',
    summary: `${gibText(availableBytes)} GiB are free on ${mount.path}, where ${of} keeps its data: a large image is not unpacked, or pods are evicted`,
    evidence: [
      {
        source: sources.df,
        // In whole GiB: with every byte the diagnosis would be another at each reading.
        quote: `${mount.device} ${mount.fsType}: ${gibText(availableBytes)} GiB of ${sizeBytes} bytes free on ${mount.path}`,
      },
    ],
    remedy: null,
    person: clean,
  };
}

/** The same error, "no space left on device", with room for gigabytes: pruning by size may not help. */
function lowInodes({ of, path }: Root, mount: Mount): Found | null {
  const { inodes, inodesAvailable } = mount;
  if (inodes === null || inodesAvailable === null || inodesAvailable >= inodes * inodeShare) return null;
  return {
    subject: `file:${path}`,
    severity: 'warning',
    summary: `Inodes run out on ${mount.path}, where ${of} keeps its data: no file can be made there, whatever space is free`,
    evidence: [
      {
        source: sources.df,
        quote: `${mount.device} ${mount.fsType}: ${inodesAvailable} of ${inodes} inodes free on ${mount.path}`,
      },
    ],
    remedy: null,
    person: `Remove what holds many small files on ${mount.path} (images and containers that nothing uses, caches), or make its file system anew with more inodes`,
  };
}

function gibText(bytes: number): string {
  return (bytes / gib).toFixed(1);
}
