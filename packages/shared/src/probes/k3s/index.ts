import { defineProbe } from '../define-probe.ts';
import { collectK3s, inputsOf } from './collect-k3s.ts';
import { k3sDistribution } from './distribution.ts';

export const k3sProbe = defineProbe({
  key: 'k3s',
  title: 'k3s: role, settings, the containerd configuration it rendered, and what its live containerd says',
  everyMs: 60_000,
  inputs: inputsOf(k3sDistribution),
  collect: (context) => collectK3s(context, k3sDistribution),
});
