import { defineRule } from '../define-rule.ts';
import { isDown, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { k3sKnowsNvidia, k3sUnit, runtimeForK3s } from './k3s-parts.ts';

export const k3sRestartPending = defineRule({
  code: 'RUNTIME_RESTART_PENDING',
  layer: 'engine',
  severity: 'blocker',
  title: 'k3s: the toolkit’s runtime is newer than the start of k3s, and k3s’ containerd does not list nvidia',
  notWhen: 'k3s lists nvidia; the runtime is outside the directories that k3s searches, or older than its start',
  proposes: ['restart_service'],
  needs: ['pci', 'jetson', 'toolkit', 'k3s'],
  consequenceOf: ['WRONG_RUNTIME_CONFIGURED'],
  excludedBy: (seen) =>
    seen.k3s?.installed === false ||
    seen.toolkit?.installed === false ||
    surelyNoGpu(seen) ||
    (seen.k3s !== null && (isDown(seen.k3s) || k3sKnowsNvidia(seen.k3s)?.knows === true)),
  check({ toolkit, k3s }, asked) {
    const known = k3sKnowsNvidia(k3s);
    if (known === null)
      return {
        cannotTell: `the runtimes of k3s are not known: ${asked.unread('k3s', 'live') ?? 'it has not rendered any'}`,
      };
    const runtime = runtimeForK3s(toolkit);
    if (runtime === null) return [];
    const startedAtMs = k3s.unit?.startedAtMs ?? null;
    if (runtime.mtimeMs === null || startedAtMs === null)
      return { cannotTell: `it is not known whether ${runtime.path} is newer than the start of k3s` };
    if (runtime.mtimeMs <= startedAtMs) return [];
    const unit = k3s.unit?.name ?? `${k3sUnit(k3s)}.service`;
    return [
      {
        subject: `unit:${unit}`,
        severity: 'blocker',
        summary:
          'k3s looks for the nvidia runtime only while it starts, and has not been restarted since it was installed',
        evidence: [
          { source: sources.file(runtime.path), quote: `changed ${utcText(runtime.mtimeMs)}` },
          { source: sources.units, quote: `${unit} started ${utcText(startedAtMs)}` },
          { source: known.source, quote: `runtimes: ${listed(known.names)}` },
        ],
        remedy: {
          jobs: [{ kind: 'restart_service', params: { unit: k3sUnit(k3s), action: 'restart' } }],
          approval: 'window',
        },
        person: null,
      },
    ];
  },
});
