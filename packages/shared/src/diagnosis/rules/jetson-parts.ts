import type { FactValue } from '../../probes/facts.ts';
import type { Found } from '../define-rule.ts';
import { sources } from '../sources.ts';

/** The board's release, quoted from the place that told it. */
export function l4tEvidence({ l4t, l4tFrom }: FactValue<'jetson'>): Found['evidence'][number] {
  const [major = '', ...rest] = (l4t ?? '').split('.');
  if (l4tFrom === 'package') return { source: sources.packages, quote: `nvidia-l4t-core ${l4t}` };
  if (l4tFrom === 'package_list')
    return { source: sources.file('/var/lib/dpkg/status'), quote: `nvidia-l4t-core ${l4t}` };
  return { source: sources.file('/etc/nv_tegra_release'), quote: `R${major} (release), REVISION: ${rest.join('.')}` };
}
