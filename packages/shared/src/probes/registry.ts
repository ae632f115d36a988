import { cdiProbe } from './cdi/index.ts';
import { containerdProbe } from './containerd/index.ts';
import { crioProbe } from './crio/index.ts';
import type { Probe } from './define-probe.ts';
import { deviceNodesProbe } from './device-nodes/index.ts';
import { diskProbe } from './disk/index.ts';
import { dockerProbe } from './docker/index.ts';
import { driverProbe } from './driver/index.ts';
import { fabricProbe } from './fabric/index.ts';
import type { ProbeKey } from './facts.ts';
import { gpuHoldersProbe } from './gpu-holders/index.ts';
import { gpusProbe } from './gpus/index.ts';
import { jetsonProbe } from './jetson/index.ts';
import { k3sProbe } from './k3s/index.ts';
import { kernelLogProbe } from './kernel-log/index.ts';
import { kubeProbe } from './kube/index.ts';
import { microk8sProbe } from './microk8s/index.ts';
import { migBootProbe } from './mig-boot/index.ts';
import { migProfilesProbe } from './mig-profiles/index.ts';
import { osProbe } from './os/index.ts';
import { packagesProbe } from './packages/index.ts';
import { pciProbe } from './pci/index.ts';
import { reachabilityProbe } from './reachability/index.ts';
import { rke2Probe } from './rke2/index.ts';
import { timeSyncProbe } from './time-sync/index.ts';
import { toolkitProbe } from './toolkit/index.ts';
import { unitsProbe } from './units/index.ts';
import { workloadsProbe } from './workloads/index.ts';

/** A probe of any key: its fact is of the type that its key names. */
export type AnyProbe = { [K in ProbeKey]: Probe<K> }[ProbeKey];

/**
 * In the order in which they run: nvidia-smi creates missing device nodes and can hang on a sick GPU, so what the
 * kernel says in /sys and /proc is read before it is asked.
 */
export const probes: readonly AnyProbe[] = [
  osProbe,
  unitsProbe,
  packagesProbe,
  reachabilityProbe,
  timeSyncProbe,
  pciProbe,
  jetsonProbe,
  driverProbe,
  kernelLogProbe,
  deviceNodesProbe,
  toolkitProbe,
  dockerProbe,
  containerdProbe,
  crioProbe,
  k3sProbe,
  rke2Probe,
  microk8sProbe,
  diskProbe,
  cdiProbe,
  kubeProbe,
  migBootProbe,
  // Before nvidia-smi, which holds the GPUs itself while it runs.
  gpuHoldersProbe,
  workloadsProbe,
  gpusProbe,
  migProfilesProbe,
  fabricProbe,
];
