import { defineRule } from '../define-rule.ts';
import { surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { isNvidiaHandler } from './kubelet-engine.ts';
import { fileWithNvidia, hostFileRule, toHostFileFinding } from './wrong-runtime-configured.ts';

export const wrongRuntimeConfiguredMicroK8s = defineRule({
  ...hostFileRule,
  title:
    'The host’s containerd configuration has nvidia, but MicroK8s runs the pods by its own containerd, which has not',
  notWhen: 'MicroK8s’ containerd has a handler of NVIDIA’s, of whatever name; no MicroK8s',
  needs: ['pci', 'jetson', 'containerd', 'microk8s'],
  excludedBy: (seen) =>
    seen.microk8s?.installed === false ||
    surelyNoGpu(seen) ||
    (seen.containerd !== null && fileWithNvidia(seen.containerd) === null),
  check({ containerd, microk8s }, asked) {
    const known = microk8s.live ?? microk8s.rendered;
    if (known === null) {
      const because = asked.unread('microk8s', 'rendered') ?? 'nothing was made from its template';
      return { cannotTell: `the runtimes of MicroK8s are not known: ${because}` };
    }
    const names = known.runtimes.map(({ name }) => name);
    if (names.some(isNvidiaHandler)) return [];
    const source = microk8s.live ? sources.microk8sCrictl : sources.file(microk8s.renderedFile.path);
    return [toHostFileFinding(containerd, 'MicroK8s', 'microk8s', { source, names })];
  },
});
