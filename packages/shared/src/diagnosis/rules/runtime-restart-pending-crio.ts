import { defineRule } from '../define-rule.ts';
import { changedAfterStart, isDown, knowsNvidia, listed } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { crioLive, kubeletUsesCrio } from './crio-parts.ts';

export const crioRestartPending = defineRule({
  code: 'RUNTIME_RESTART_PENDING',
  layer: 'engine',
  severity: 'blocker',
  title: 'CRI-O: its files have nvidia, one is newer than the daemon’s start, and the live daemon does not list nvidia',
  notWhen: 'the live daemon lists nvidia; no file is newer than the daemon; the daemon is down',
  proposes: [],
  needs: ['crio', 'kube'],
  excludedBy: ({ crio, kube }) =>
    (crio !== null && (isDown(crio) || !knowsNvidia(crio.runtimes) || knowsNvidia(crio.live?.runtimes ?? []))) ||
    (kube !== null && !kubeletUsesCrio(kube)),
  check({ crio }, asked) {
    const { unit, files } = crio;
    const live = crioLive(crio);
    if (live === null) return { cannotTell: `CRI-O did not answer: ${asked.unread('crio', 'live') ?? 'no reason'}` };
    if (unit?.startedAtMs == null) return { cannotTell: 'it is not known when CRI-O was started' };
    const changed = changedAfterStart(files, unit);
    if (changed === null) return [];
    return [
      {
        subject: `unit:${unit.name}`,
        severity: 'blocker',
        summary: `CRI-O was not restarted since ${changed.path} was changed: it runs without the nvidia handler`,
        evidence: [
          { source: sources.file(changed.path), quote: `changed ${utcText(changed.mtimeMs ?? 0)}` },
          { source: sources.units, quote: `${unit.name} started ${utcText(unit.startedAtMs)}` },
          { source: live.source, quote: `runtimes: ${listed(live.names)}` },
        ],
        remedy: null,
        person: 'Restart crio.service in a quiet hour: running containers go on, the kubelet waits for it.',
      },
    ];
  },
});
