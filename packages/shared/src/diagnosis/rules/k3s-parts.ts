import type { FactValue } from '../../probes/facts.ts';
import type { Asked } from '../define-rule.ts';
import { knowsNvidia } from '../host-questions.ts';
import { sources } from '../sources.ts';

/** rke2 is made of the parts of k3s: one rule for each, by the same sentences. */
export type Rancher = 'k3s' | 'rke2';
type K3s = FactValue<'k3s'>;

export const rancherTitles = { k3s: 'k3s', rke2: 'RKE2' } as const;

/** Its live containerd first, else what it rendered at its last start; null: neither is known. */
export function k3sKnowsNvidia(name: Rancher, k3s: K3s): { knows: boolean; source: string; names: string[] } | null {
  const asked = k3s.live
    ? { source: name === 'k3s' ? sources.k3sCrictl : sources.rke2Crictl, runtimes: k3s.live.runtimes }
    : k3s.rendered && { source: sources.file(k3s.renderedFile.path), runtimes: k3s.rendered.runtimes };
  if (!asked) return null;
  const { source, runtimes } = asked;
  return { knows: knowsNvidia(runtimes), source, names: runtimes.map(({ name: runtime }) => runtime) };
}

/** The runtime that it would find if it started now. */
export function runtimeForK3s(k3s: K3s): K3s['runtimesFound'][number] | null {
  return k3s.runtimesFound.find(({ handler }) => handler === 'nvidia') ?? null;
}

export function unknownRuntimes(name: Rancher, { renderedFile }: K3s, asked: Asked<Rancher>): { cannotTell: string } {
  const rendered = renderedFile.error ? `${renderedFile.path}: ${renderedFile.error}` : asked.unread(name, 'rendered');
  const because =
    [asked.unread(name, 'live'), rendered].filter((one) => one !== null).join('; ') || 'it has not rendered any';
  return { cannotTell: `the runtimes of ${rancherTitles[name]} are not known: ${because}` };
}
