import type { FactValue } from '../../probes/facts.ts';

type Facts = { [K in 'units' | 'packages']: FactValue<K> };

/** Versions of the toolkit that fail on some hosts whatever their configuration is. */
export const knownBadToolkits: readonly {
  /** From this one to that one, both bad. */
  from: string;
  to: string;
  appliesTo(facts: Facts): boolean;
  why: string;
}[] = [
  {
    from: '1.18.0',
    to: '1.19.0',
    appliesTo: ({ units }) => units.units.some(({ name }) => name === 'crio.service'),
    why: 'its nvidia-ctk writes /etc/crio/conf.d, a folder that CRI-O does not read',
  },
  {
    from: '1.18.0',
    to: '1.18.0',
    appliesTo: ({ units, packages }) =>
      units.units.some(({ name }) => name === 'containerd.service') &&
      !packages.packages.some(({ group }) => group === 'docker'),
    why: 'its nvidia-ctk writes /etc/containerd/config.d, where no later version looks for what it wrote',
  },
];
