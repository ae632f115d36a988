import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';

type Node = FactValue<'device_nodes'>['nodes'][number];

export const deviceNodeModeRestricted = defineRule({
  code: 'DEVICE_NODE_ACCESS_DENIED',
  layer: 'device_nodes',
  severity: 'warning',
  title: 'The mode of a GPU’s device nodes keeps out whoever is neither root nor of their group',
  notWhen: 'everybody may read and write them, as the driver makes them; Tegra, where the groups are the rule',
  proposes: [],
  needs: ['device_nodes'],
  onTegra: 'never',
  excludedBy: ({ device_nodes }) => device_nodes?.nodes.every((node) => !isNarrow(node)) ?? false,
  check({ device_nodes }) {
    const narrow = device_nodes.nodes.filter(isNarrow);
    const [first] = narrow;
    if (first === undefined) return [];
    const group = first.group ?? `gid ${first.gid}`;
    return [
      {
        subject: `file:${first.path}`,
        severity: 'warning',
        summary: `Only root and group ${group} may open ${narrow.map(({ path }) => path).join(', ')}`,
        evidence: narrow.slice(0, 4).map((node) => ({
          source: sources.file(node.path),
          quote: `mode 0${node.mode.toString(8)}, uid ${node.uid}, group ${node.group ?? node.gid}`,
        })),
        remedy: null,
        person: `Give the processes that need a GPU the group ${group} (in a container --group-add ${first.gid}), or take NVreg_DeviceFileMode out of modprobe’s configuration.`,
      },
    ];
  },
});

/** The nodes that every program needs; those of MIG’s capabilities are meant to be narrow. */
function isNarrow({ path, mode }: Node): boolean {
  return /^\/dev\/nvidia(\d+|ctl|-uvm)$/.test(path) && (mode & 0o006) !== 0o006;
}
