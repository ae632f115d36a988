import { defineProbe } from '../define-probe.ts';
import { collectK3s, inputsOf } from '../k3s/collect-k3s.ts';
import { rke2Distribution } from '../k3s/distribution.ts';

export const rke2Probe = defineProbe({
  key: 'rke2',
  title: 'RKE2: role, settings, the containerd configuration it rendered, and what its live containerd says',
  everyMs: 60_000,
  inputs: inputsOf(rke2Distribution),
  collect: (context) => collectK3s(context, rke2Distribution),
});
