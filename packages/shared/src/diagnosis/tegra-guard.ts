import type { Facts } from '../probes/facts.ts';

export type TegraGuard = { say: 'on' } | { say: 'off' } | { say: 'cannot_tell'; because: string };

/**
 * PCI and NVML say nothing of an integrated GPU behind `nvgpu`: a missing nvidia-smi there is no driver failure.
 * Thor has a real NVML and a PCI address.
 */
export function tegraGuard(onTegra: 'never' | 'with_nvml', facts: Partial<Facts>): TegraGuard {
  const jetson = facts.jetson?.value;
  if (!jetson) {
    const reason = facts.jetson?.unreadable?.because ?? 'not read';
    return { say: 'cannot_tell', because: `fact jetson could not be read: ${reason}; this may be a Tegra board` };
  }
  if (!jetson.isTegra) return { say: 'on' };
  if (onTegra === 'never') return { say: 'off' };
  // A report that was cut before the name says nothing of it.
  const names = facts.gpus?.value?.gpus.flatMap(({ name }) => name ?? []) ?? [];
  const hasNvml = names.length > 0 ? names.some((name) => !name.includes('(nvgpu)')) : jetson.soc === 'tegra264';
  return { say: hasNvml ? 'on' : 'off' };
}
