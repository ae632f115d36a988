import { defineRule } from '../define-rule.ts';
import { changedAfterStart, isDown, knowsNvidia, listed, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { liveRuntimes, rootPath } from './containerd-parts.ts';

export const containerdReadsAnotherFile = defineRule({
  code: 'WRONG_RUNTIME_CONFIGURED',
  layer: 'engine',
  severity: 'blocker',
  title: 'containerd: the files have nvidia, the daemon was started after them, and its live CRI does not list nvidia',
  notWhen: 'a file is newer than the daemon (RUNTIME_RESTART_PENDING); the live CRI lists nvidia or did not load',
  proposes: [],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  consequenceOf: ['CONTAINERD_CRI_DISABLED', 'CONTAINERD_CONFIG_VERSION_MISMATCH', 'CONTAINERD_RUNTIME_INCOMPLETE'],
  excludedBy: (seen) =>
    surelyNotContainerd(seen) ||
    (seen.containerd !== null &&
      (isDown(seen.containerd) ||
        !knowsNvidia(seen.containerd.effective?.runtimes ?? []) ||
        knowsNvidia(seen.containerd.live?.runtimes ?? []))),
  check({ containerd }) {
    const { unit, files, live: answer } = containerd;
    const live = liveRuntimes(containerd);
    // What is not known here is told by RUNTIME_RESTART_PENDING, which asks the same of the same daemon.
    if (live === null || !answer?.criReady || unit?.startedAtMs == null) return [];
    if (changedAfterStart(files, unit) !== null) return [];
    const path = rootPath(containerd);
    return [
      {
        subject: `file:${path}`,
        severity: 'blocker',
        summary: `${path} has the nvidia runtime, but the running containerd reads another configuration`,
        evidence: [
          { source: sources.file(path), quote: 'runtimes.nvidia' },
          { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
          { source: live.source, quote: `runtimes: ${listed(live.names)}` },
        ],
        remedy: null,
        person: `See which file containerd reads (systemctl cat ${unit.name}: a --config in a drop-in, a second containerd) and configure that one, or remove the override.`,
      },
    ];
  },
});
