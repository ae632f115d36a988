import { defineRule, type Found } from '../define-rule.ts';
import { listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { engineKeys, isNvidiaHandler, kubeletEngine } from './kubelet-engine.ts';

export const runtimeclassMissing = defineRule({
  code: 'RUNTIMECLASS_MISSING',
  layer: 'kubernetes',
  severity: 'blocker',
  title: 'The engine behind the kubelet has a runtime of NVIDIA, and the cluster has no RuntimeClass with that handler',
  notWhen:
    'nvidia is the default runtime and nothing names the class; hosts that cannot ask the API (another host of the cluster tells)',
  proposes: ['ensure_runtime_class'],
  needs: engineKeys,
  consequenceOf: ['CONTAINERD_RUNTIME_NOT_CONFIGURED', 'WRONG_RUNTIME_CONFIGURED', 'RUNTIME_RESTART_PENDING'],
  excludedBy: ({ kube }) =>
    kube !== null && (!kube.present || (kube.runtimeClasses === null && kube.controlPlane !== true)),
  check(facts, asked) {
    const { runtimeClasses, devicePlugin } = facts.kube;
    const engine = kubeletEngine(facts);
    const handlers = engine?.names.filter((name) => /^nvidia(-container-runtime)?$/.test(name)) ?? [];
    if (engine === null || handlers.length === 0) return [];
    if (runtimeClasses === null) {
      if (isNvidiaHandler(engine.defaultRuntime)) return [];
      const because = asked.unread('kube', 'runtimeClasses') ?? 'no reason';
      return { cannotTell: `the RuntimeClasses could not be listed: ${because}` };
    }
    // The name is anybody's choice: the handler must be one that the engine has.
    if (runtimeClasses.some(({ handler }) => handlers.includes(handler))) return [];
    const naming = (devicePlugin.daemonSets ?? []).find(
      ({ spec }) =>
        spec.runtimeClassName !== null && !runtimeClasses.some(({ name }) => name === spec.runtimeClassName),
    );
    if (isNvidiaHandler(engine.defaultRuntime) && naming === undefined) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `The cluster has no RuntimeClass for the handler ${handlers[0]}: pods cannot ask for this runtime`,
        evidence: [
          { source: engine.source, quote: `runtimes: ${listed(engine.names)}` },
          {
            source: sources.runtimeClasses(facts),
            quote:
              runtimeClasses.length > 0
                ? `handlers: ${runtimeClasses.map(({ handler }) => handler).join(', ')}`
                : 'no RuntimeClass',
          },
          ...(naming
            ? [
                {
                  source: sources.daemonSets(facts.kube),
                  quote: `${naming.namespace}/${naming.name}: runtimeClassName ${naming.spec.runtimeClassName}`,
                },
              ]
            : []),
        ],
        remedy: remedyFor(handlers, runtimeClasses),
        person: null,
      },
    ];
  },
});

/** The API does not let a handler be changed: a class of that name that has another is made anew, when a person agrees. */
function remedyFor(handlers: readonly string[], classes: readonly { name: string }[]): Found['remedy'] {
  const handler = handlers.includes('nvidia') ? 'nvidia' : (handlers[0] ?? 'nvidia');
  const isTaken = classes.some(({ name }) => name === 'nvidia');
  const params = { ...(handler !== 'nvidia' && { handler }), ...(isTaken && { replace: true }) };
  return { jobs: [{ kind: 'ensure_runtime_class', params }], approval: isTaken ? 'approve' : 'auto' };
}
