import { defineRule } from '../define-rule.ts';
import { changedAfterStart, isDown, knowsNvidia, listed, surelyNotContainerd } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { liveRuntimes, untoldEffective } from './containerd-parts.ts';

export const containerdRestartPending = defineRule({
  code: 'RUNTIME_RESTART_PENDING',
  layer: 'engine',
  severity: 'blocker',
  title:
    'containerd: the effective files have nvidia, one is newer than the daemon’s start, and the live CRI does not list nvidia',
  notWhen: 'the live daemon lists nvidia; no file is newer than the daemon; the file is invalid',
  proposes: ['restart_service'],
  needs: ['containerd', 'docker', 'k3s', 'kube'],
  consequenceOf: ['CONTAINERD_CRI_DISABLED', 'CONTAINERD_CONFIG_VERSION_MISMATCH'],
  excludedBy: (seen) =>
    surelyNotContainerd(seen) ||
    (seen.containerd !== null &&
      (isDown(seen.containerd) ||
        (seen.containerd.effective !== null && !knowsNvidia(seen.containerd.effective.runtimes)) ||
        knowsNvidia(seen.containerd.live?.runtimes ?? []))),
  check({ containerd }, asked) {
    const untold = untoldEffective(containerd, asked);
    if (untold || containerd.effective === null) return untold ?? [];
    const { unit, files } = containerd;
    const changed = changedAfterStart(files, unit);
    const live = liveRuntimes(containerd);
    // A daemon that answers for CRI but not for its runtimes, with files older than its start, has read them.
    if (live === null && changed === null && unit?.startedAtMs != null) return [];
    if (live === null)
      return {
        cannotTell: `the live runtimes of containerd are not known: ${asked.unread('containerd', 'live') ?? 'only crictl can tell'}`,
      };
    if (unit?.startedAtMs == null) return { cannotTell: 'it is not known when containerd was started' };
    if (changed === null) return [];
    return [
      {
        subject: `unit:${unit.name}`,
        severity: 'blocker',
        summary: `containerd was not restarted since ${changed.path} was changed: it runs without the nvidia runtime`,
        evidence: [
          { source: sources.file(changed.path), quote: `changed ${utcText(changed.mtimeMs ?? 0)}` },
          { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
          { source: live.source, quote: `runtimes: ${listed(live.names)}` },
        ],
        remedy: isOwnUnit(unit)
          ? {
              jobs: [{ kind: 'restart_service', params: { unit: 'containerd', action: 'restart' } }],
              approval: 'window',
            }
          : null,
        person: isOwnUnit(unit) ? null : `Restart ${unit.name}.`,
      },
    ];
  },
});

/** Only the usual unit may be restarted by a job. */
function isOwnUnit({ name }: { name: string }): boolean {
  return name === 'containerd.service';
}
