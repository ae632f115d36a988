import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { knowsNvidia, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { rootPath } from './containerd-parts.ts';
import { k3sKnowsNvidia } from './k3s-parts.ts';

export const wrongRuntimeConfigured = defineRule({
  code: 'WRONG_RUNTIME_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title: 'The host’s containerd configuration has nvidia, but k3s runs the pods by its own containerd, which has not',
  notWhen: 'k3s’ containerd lists nvidia as well; no k3s',
  proposes: ['configure_runtime'],
  needs: ['pci', 'jetson', 'containerd', 'k3s'],
  excludedBy: (seen) =>
    seen.k3s?.installed === false ||
    surelyNoGpu(seen) ||
    (seen.containerd !== null && fileWithNvidia(seen.containerd) === null) ||
    (seen.k3s !== null && k3sKnowsNvidia(seen.k3s)?.knows === true),
  check({ containerd, k3s }, asked) {
    const known = k3sKnowsNvidia(k3s);
    if (known === null)
      return {
        cannotTell: `the runtimes of k3s are not known: ${asked.unread('k3s', 'live') ?? 'it has not rendered any'}`,
      };
    const wrong = fileWithNvidia(containerd) ?? rootPath(containerd);
    return [
      {
        subject: `file:${wrong}`,
        severity: 'blocker',
        summary: `${wrong} has the nvidia runtime, but k3s never reads it: its own containerd has none`,
        evidence: [
          { source: sources.file(wrong), quote: 'runtimes.nvidia' },
          { source: known.source, quote: `runtimes: ${listed(known.names)}` },
        ],
        // The host's file is left alone: docker or another tool may need it.
        remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'k3s' } }], approval: 'window' },
        person: null,
      },
    ];
  },
});

/** Where the host's own containerd is told of nvidia, read by a daemon or not. */
function fileWithNvidia(containerd: FactValue<'containerd'>): string | null {
  const dropIn = containerd.files.find(({ path, present }) => present && path.endsWith('/99-nvidia.toml'));
  if (dropIn) return dropIn.path;
  const { effective, rootConfig } = containerd;
  return [effective, rootConfig].some((config) => knowsNvidia(config?.runtimes ?? [])) ? rootPath(containerd) : null;
}
