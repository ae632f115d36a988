import type { FactValue } from '../../probes/facts.ts';
import { knowsNvidia } from '../host-questions.ts';
import { sources } from '../sources.ts';

type K3s = FactValue<'k3s'>;

/** Where k3s looks for runtimes when it starts, first one first. */
const searched = [
  '/usr/local/nvidia/toolkit',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
];

/** The runtime that k3s would find if it started now. */
export function runtimeForK3s(toolkit: FactValue<'toolkit'>): { path: string; mtimeMs: number | null } | null {
  const found = toolkit.binaries.filter(({ name }) => name === 'nvidia-container-runtime');
  for (const folder of searched) {
    const match = found.find(({ path }) => path === `${folder}/nvidia-container-runtime`);
    if (match) return match;
  }
  return null;
}

/** The live containerd of k3s first, else what k3s rendered at its last start; null: neither is known. */
export function k3sKnowsNvidia(k3s: K3s): { knows: boolean; source: string; names: string[] } | null {
  const asked = k3s.live
    ? { source: sources.k3sCrictl, runtimes: k3s.live.runtimes }
    : k3s.rendered && { source: sources.file(k3s.renderedFile.path), runtimes: k3s.rendered.runtimes };
  if (!asked) return null;
  const { source, runtimes } = asked;
  return { knows: knowsNvidia(runtimes), source, names: runtimes.map(({ name }) => name) };
}

export function k3sUnit(k3s: K3s): 'k3s' | 'k3s-agent' {
  return k3s.role === 'agent' ? 'k3s-agent' : 'k3s';
}
