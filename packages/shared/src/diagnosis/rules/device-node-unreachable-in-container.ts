import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { containerSource, type DockerContainer, nameOf, subjectOf } from './workload-parts.ts';

type Node = FactValue<'device_nodes'>['nodes'][number];
type Process = NonNullable<DockerContainer['process']>;

export const deviceNodeUnreachableInContainer = defineRule({
  code: 'DEVICE_NODE_ACCESS_DENIED',
  layer: 'device_nodes',
  severity: 'info',
  title:
    'The process of a running GPU container is neither root nor in the group to which the GPU’s device nodes are kept, as on Jetson those of video and render',
  notWhen: 'it runs as root, or has the group; everybody may use the nodes; the container does not run',
  proposes: [],
  needs: ['device_nodes', 'workloads'],
  excludedBy: ({ device_nodes, workloads }) =>
    (device_nodes !== null && keptNodes(device_nodes.nodes).length === 0) ||
    workloads?.docker?.every(({ running }) => !running) === true,
  check({ device_nodes, workloads }, asked) {
    const kept = keptNodes(device_nodes.nodes);
    const unread = asked.unread('workloads', 'docker');
    if (kept.length > 0 && workloads.docker === null && unread !== null)
      return { cannotTell: `the containers of docker could not be read: ${unread}` };
    return (workloads.docker ?? []).flatMap((container): Found[] => {
      const { running, process } = container;
      if (!running || process === null) return [];
      const closed = kept.filter((node) => !mayUse(process, node));
      const [first] = closed;
      if (first === undefined) return [];
      const groups = [...new Map(closed.map((node) => [node.gid, node.group ?? String(node.gid)]))];
      return [
        {
          subject: subjectOf(container),
          severity: 'info',
          summary: `${nameOf(container)} runs as user ${process.uid}, which may not open ${listed(closed.map(({ path }) => path).slice(0, 4))}: it finds no GPU`,
          evidence: [
            ...closed.slice(0, 2).map((node) => ({
              source: sources.file(node.path),
              quote: `mode 0${node.mode.toString(8)}, uid ${node.uid}, group ${node.group ?? node.gid}`,
            })),
            { source: containerSource(container), quote: `"User":"${container.user ?? ''}"` },
            {
              source: 'file:/proc/*/status',
              quote: `Uid: ${process.uid}, Groups: ${listed(process.gids.map(String))}`,
            },
          ],
          remedy: null,
          person: `Start it with ${groups.map(([gid]) => `--group-add ${gid}`).join(' ')} (on this host ${listed(groups.map(([, name]) => name))}; the number counts, the image may give the name to another), or as a user of its image that has the group; nothing is wrong with the host.`,
        },
      ];
    });
  },
});

/** The nodes that CUDA opens, where not everybody may. It needs those of DRI on Tegra only, where nvmap is. */
function keptNodes(nodes: readonly Node[]): Node[] {
  const isTegra = nodes.some(({ path }) => path === '/dev/nvmap');
  const needed = isTegra
    ? /^\/dev\/(?:nvidia(?:\d+|ctl|-uvm)|nvmap|nvhost-[\w-]*gpu|dri\/renderD\d+)$/
    : /^\/dev\/nvidia(?:\d+|ctl|-uvm)$/;
  return nodes.filter(({ path, mode }) => needed.test(path) && (mode & 0o006) !== 0o006);
}

function mayUse({ uid, gids }: Process, { mode, uid: owner, gid }: Node): boolean {
  if (uid === 0) return true;
  if (uid === owner) return (mode & 0o600) === 0o600;
  return gids.includes(gid) && (mode & 0o060) === 0o060;
}
