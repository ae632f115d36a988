import type { Facts, ProbeKey } from '../probes/facts.ts';

type Some = { [P in ProbeKey]?: Facts[P] | undefined };

/** What a fact is read from, for a person; those that are not named here are named by their key. */
const texts: Partial<Record<ProbeKey, string>> = {
  gpus: 'the report of nvidia-smi',
  units: 'the answer of systemctl',
};

/** Why the lists of a fact that was read may lack something at their end, in words; null: they are whole. */
export function cutShort(key: ProbeKey, facts: Some): string | null {
  const text = texts[key] ?? `what was read of ${key}`;
  if (facts[key]?.partial.some(({ because }) => because === 'truncated'))
    return `${text} breaks off (truncated): what came after that is not known`;
  const gpus = key === 'gpus' ? facts.gpus?.value : null;
  if (gpus && (gpus.attached ?? 0) > gpus.gpus.length)
    return `nvidia-smi counts ${gpus.attached} GPUs and describes ${gpus.gpus.length}: the report is cut`;
  return null;
}
