import type { JobRequest } from '../../jobs/job-request.ts';
import type { FactValue } from '../../probes/facts.ts';
import { isNewerThanStart } from '../../probes/unit-age.ts';
import { defineRule } from '../define-rule.ts';
import { isDown, listed, surelyNoGpu } from '../host-questions.ts';
import { sources } from '../sources.ts';
import { utcText } from '../utc-text.ts';
import { k3sKnowsNvidia, type Rancher, rancherTitles, runtimeForK3s, unknownRuntimes } from './k3s-parts.ts';

export const k3sRestartPending = restartPending('k3s');

/** What holds of k3s holds of rke2, which is made of the same parts. */
export function restartPending(name: Rancher) {
  const title = rancherTitles[name];
  return defineRule({
    code: 'RUNTIME_RESTART_PENDING',
    layer: 'engine',
    severity: 'blocker',
    title: `${title}: the runtime that it would find now is newer than its start, and its containerd does not list nvidia`,
    notWhen: `${title} lists nvidia; no runtime is where it searches, or it is older than the start`,
    proposes: ['restart_service', 'configure_runtime'],
    needs: ['pci', 'jetson', name],
    uses: ['toolkit'],
    consequenceOf: ['K3S_TEMPLATE_PROBLEM', 'WRONG_RUNTIME_CONFIGURED'],
    excludedBy: (seen) => {
      const own = seen[name];
      return (
        own?.installed === false ||
        surelyNoGpu(seen) ||
        (own !== null && (isDown(own) || k3sKnowsNvidia(name, own)?.knows === true))
      );
    },
    check(facts, asked) {
      const own = facts[name];
      const known = k3sKnowsNvidia(name, own);
      if (known === null) return unknownRuntimes(name, own, asked);
      const runtime = runtimeForK3s(own);
      if (runtime === null) {
        const unread = asked.unread(name, 'runtimesFound');
        return unread ? { cannotTell: `the folders that ${title} searches were not all read: ${unread}` } : [];
      }
      const startedAtMs = own.unit?.startedAtMs ?? null;
      const came = arrivalOf(runtime, facts.toolkit);
      if (came === null || startedAtMs === null)
        return { cannotTell: `it is not known whether ${runtime.path} is newer than the start of ${title}` };
      if (!isNewerThanStart(came.atMs, own.unit)) return [];
      const unit = own.unit?.name ?? `${name}.service`;
      return [
        {
          subject: `unit:${unit}`,
          severity: 'blocker',
          summary: `${title} looks for the nvidia runtime only while it starts, and has not been restarted since it was installed`,
          evidence: [
            { source: sources.file(came.path), quote: `changed ${utcText(came.atMs)}` },
            ...(came.path === runtime.path ? [] : [{ source: sources.file(runtime.path), quote: 'present' }]),
            { source: sources.units, quote: `${unit} started ${utcText(startedAtMs)}` },
            { source: known.source, quote: `runtimes: ${listed(known.names)}` },
          ],
          remedy: {
            jobs: [restartOf(name, unit)],
            approval: 'window',
          },
          person: null,
        },
      ];
    },
  });
}

/** A package keeps the dates of its making: when it was unpacked is told by the list of its files. */
function arrivalOf(
  { path, mtimeMs }: FactValue<'k3s'>['runtimesFound'][number],
  toolkit: FactValue<'toolkit'> | null,
): { path: string; atMs: number } | null {
  const { installedAtMs = null, installedList = null } = toolkit ?? {};
  const isPackaged = path.startsWith('/usr/bin/') && installedAtMs !== null && installedList !== null;
  if (isPackaged && installedAtMs > (mtimeMs ?? 0)) return { path: installedList, atMs: installedAtMs };
  return mtimeMs === null ? null : { path, atMs: mtimeMs };
}

/** The job of rke2 asks its containerd afterwards; a restart of k3s has a kind of its own. */
function restartOf(name: Rancher, unit: string): JobRequest {
  if (name === 'rke2') return { kind: 'configure_runtime', params: { runtime: 'rke2' } };
  return { kind: 'restart_service', params: { unit: unit.replace(/\.service$/, ''), action: 'restart' } };
}
