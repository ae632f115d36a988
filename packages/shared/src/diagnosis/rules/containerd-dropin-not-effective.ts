import { defineRule } from '../define-rule.ts';
import { containerdIsTheEngine, knowsNvidia, listed, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import {
  containerdJob,
  liveRuntimes,
  readsDefaultRoot,
  rootPath,
  unreadNvidia,
  whyNoEffective,
} from './containerd-parts.ts';

export const containerdDropinNotEffective = defineRule({
  code: 'CONTAINERD_DROPIN_NOT_EFFECTIVE',
  layer: 'engine',
  severity: 'blocker',
  title: 'A file in containerd’s folder has a runtime nvidia, and no imports pattern of the root file leads to it',
  notWhen:
    'the file is imported and containerd was not restarted yet; the effective or the live configuration has nvidia all the same; containerd runs with another root file (WRONG_RUNTIME_CONFIGURED)',
  proposes: ['configure_runtime'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  consequenceOf: ['CONTAINERD_CRI_DISABLED', 'CONTAINERD_CONFIG_VERSION_MISMATCH'],
  excludedBy: (seen) =>
    surelyNotContainerd(seen) ||
    (seen.containerd !== null &&
      (unreadNvidia(seen.containerd).length === 0 ||
        !readsDefaultRoot(seen.containerd) ||
        knowsNvidia(seen.containerd.effective?.runtimes ?? []) ||
        knowsNvidia(seen.containerd.live?.runtimes ?? []))),
  check(facts, asked) {
    const { containerd } = facts;
    if (!containerdIsTheEngine(facts)) return [];
    if (containerd.effective === null)
      return { cannotTell: `what containerd imports is not known: ${whyNoEffective(containerd, asked)}` };
    const path = rootPath(containerd);
    const live = liveRuntimes(containerd);
    const root = containerd.files[0];
    return unreadNvidia(containerd).map(({ file }) => ({
      subject: `file:${file.path}`,
      severity: 'blocker',
      summary: `${file.path} has the nvidia runtime, and containerd never reads it`,
      evidence: [
        { source: sources.file(file.path), quote: 'runtimes.nvidia' },
        {
          source: sources.file(path),
          quote: root?.present
            ? `imports: ${listed(containerd.effective?.imports ?? [])}`
            : 'absent: nothing is imported',
        },
        ...(live ? [{ source: live.source, quote: `runtimes: ${listed(live.names)}` }] : []),
      ],
      // It writes where this containerd reads; the file that nobody reads stays as it is.
      remedy: { jobs: [containerdJob(containerd)], approval: 'window' },
      person: null,
    }));
  },
});
