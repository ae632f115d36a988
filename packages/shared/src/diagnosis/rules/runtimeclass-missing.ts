import type { FactValue } from '../../probes/facts.ts';
import { defineRule } from '../define-rule.ts';
import { kubeletUsesHostContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { rootPath } from './containerd-parts.ts';

export const runtimeclassMissing = defineRule({
  code: 'RUNTIMECLASS_MISSING',
  layer: 'kubernetes',
  severity: 'blocker',
  title: 'The engine behind the kubelet has the runtime nvidia, and the cluster has no RuntimeClass with that handler',
  notWhen: 'nvidia is the default runtime; hosts that cannot ask the API (another host of the cluster tells)',
  proposes: ['ensure_runtime_class'],
  needs: ['kube', 'k3s', 'containerd'],
  consequenceOf: ['CONTAINERD_RUNTIME_NOT_CONFIGURED', 'WRONG_RUNTIME_CONFIGURED', 'RUNTIME_RESTART_PENDING'],
  excludedBy: ({ kube }) =>
    kube !== null &&
    (!kube.present ||
      (kube.runtimeClasses === null && kube.controlPlane !== true) ||
      (kube.runtimeClasses?.some(({ handler }) => handler === 'nvidia') ?? false)),
  check(facts, asked) {
    const { runtimeClasses } = facts.kube;
    const engine = engineOf(facts);
    if (!engine?.names.includes('nvidia') || engine.defaultRuntime === 'nvidia') return [];
    if (runtimeClasses === null)
      return {
        cannotTell: `the RuntimeClasses could not be listed: ${asked.unread('kube', 'runtimeClasses') ?? 'no reason'}`,
      };
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: 'The cluster has no RuntimeClass for the handler nvidia: pods cannot ask for this runtime',
        evidence: [
          { source: engine.source, quote: 'runtimes.nvidia' },
          {
            source: sources.runtimeClasses(facts),
            quote:
              runtimeClasses.length > 0
                ? `handlers: ${runtimeClasses.map(({ handler }) => handler).join(', ')}`
                : 'no RuntimeClass',
          },
        ],
        remedy: { jobs: [{ kind: 'ensure_runtime_class', params: {} }], approval: 'auto' },
        person: null,
      },
    ];
  },
});

/** What the engine behind the kubelet works with: asked live, else its files. */
function engineOf(facts: { [K in 'kube' | 'k3s' | 'containerd']: FactValue<K> }) {
  const { k3s, containerd } = facts;
  if (k3s.installed) {
    const known = k3s.live ?? k3s.rendered;
    const source = k3s.live ? sources.k3sCrictl : sources.file(k3s.renderedFile.path);
    return known && { names: known.runtimes.map(({ name }) => name), defaultRuntime: known.defaultRuntime, source };
  }
  if (!kubeletUsesHostContainerd(facts)) return null;
  const live = containerd.live?.runtimes ? containerd.live : null;
  const runtimes = live?.runtimes ?? containerd.effective?.runtimes;
  const defaultRuntime = live ? live.defaultRuntime : (containerd.effective?.defaultRuntime ?? null);
  const source = live ? sources.crictl : sources.file(rootPath(containerd));
  return runtimes ? { names: runtimes.map(({ name }) => name), defaultRuntime, source } : null;
}
