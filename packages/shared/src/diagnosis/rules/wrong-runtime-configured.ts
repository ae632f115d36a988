import type { FactValue } from '../../probes/facts.ts';
import { defineRule, type Found } from '../define-rule.ts';
import { knowsNvidia, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { fileWithRuntime, rootPath } from './containerd-parts.ts';
import { k3sKnowsNvidia, type Rancher, rancherTitles, unknownRuntimes } from './k3s-parts.ts';

export const hostFileRule = {
  code: 'WRONG_RUNTIME_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  proposes: ['configure_runtime'],
} as const;

export const wrongRuntimeConfigured = hostFileInsteadOf('k3s');

/** What holds of k3s holds of rke2, which is made of the same parts. */
export function hostFileInsteadOf(name: Rancher) {
  const title = rancherTitles[name];
  return defineRule({
    ...hostFileRule,
    title: `The host’s containerd configuration has nvidia, but ${title} runs the pods by its own containerd, which has not`,
    notWhen: `${title}’s containerd lists nvidia as well; no ${title}`,
    needs: ['pci', 'jetson', 'containerd', name],
    consequenceOf: ['K3S_TEMPLATE_PROBLEM'],
    excludedBy: (seen) => {
      const own = seen[name];
      return (
        own?.installed === false ||
        surelyNoGpu(seen) ||
        (seen.containerd !== null && fileWithNvidia(seen.containerd) === null) ||
        (own !== null && k3sKnowsNvidia(name, own)?.knows === true)
      );
    },
    check(facts, asked) {
      const known = k3sKnowsNvidia(name, facts[name]);
      if (known === null) return unknownRuntimes(name, facts[name], asked);
      return [toHostFileFinding(facts.containerd, title, name, known)];
    },
  });
}

/** The host's file names nvidia, and the engine behind the kubelet has other runtimes. */
export function toHostFileFinding(
  containerd: FactValue<'containerd'>,
  title: string,
  runtime: Rancher | 'microk8s',
  known: { source: string; names: string[] },
): Found {
  const wrong = fileWithNvidia(containerd) ?? rootPath(containerd);
  return {
    subject: `file:${wrong}`,
    severity: 'blocker',
    summary: `${wrong} has the nvidia runtime, but ${title} never reads it: its own containerd has none`,
    evidence: [
      {
        source: sources.file(wrong === rootPath(containerd) ? fileWithRuntime(containerd) : wrong),
        quote: 'runtimes.nvidia',
      },
      { source: known.source, quote: `runtimes: ${listed(known.names)}` },
    ],
    // The host's file is left alone: docker or another tool may need it.
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime } }], approval: 'window' },
    person: null,
  };
}

/** Where the host's own containerd is told of nvidia, read by a daemon or not. */
export function fileWithNvidia(containerd: FactValue<'containerd'>): string | null {
  const dropIn = containerd.files.find(({ path, present }) => present && path.endsWith('/99-nvidia.toml'));
  if (dropIn) return dropIn.path;
  const { effective, rootConfig } = containerd;
  return [effective, rootConfig].some((config) => knowsNvidia(config?.runtimes ?? [])) ? rootPath(containerd) : null;
}
