import { z } from 'zod';
import { CdiFact } from './cdi/fact.ts';
import { ContainerdFact } from './containerd/fact.ts';
import { CrioFact } from './crio/fact.ts';
import { DeviceNodesFact } from './device-nodes/fact.ts';
import { DiskFact } from './disk/fact.ts';
import { DockerFact } from './docker/fact.ts';
import { DriverFact } from './driver/fact.ts';
import { FabricFact } from './fabric/fact.ts';
import { type Fact, factSchema } from './fact.ts';
import { GpuHoldersFact } from './gpu-holders/fact.ts';
import { GpusFact } from './gpus/fact.ts';
import { JetsonFact } from './jetson/fact.ts';
import { K3sFact } from './k3s/fact.ts';
import { KernelLogFact } from './kernel-log/fact.ts';
import { KubeFact } from './kube/fact.ts';
import { MicroK8sFact } from './microk8s/fact.ts';
import { MigBootFact } from './mig-boot/fact.ts';
import { MigProfilesFact } from './mig-profiles/fact.ts';
import { OsFact } from './os/fact.ts';
import { PackagesFact } from './packages/fact.ts';
import { PciFact } from './pci/fact.ts';
import { ReachabilityFact } from './reachability/fact.ts';
import { Rke2Fact } from './rke2/fact.ts';
import { TimeSyncFact } from './time-sync/fact.ts';
import { ToolkitFact } from './toolkit/fact.ts';
import { UnitsFact } from './units/fact.ts';
import { WorkloadsFact } from './workloads/fact.ts';

/** One entry for each probe: the value's schema by probe key. */
export const factValues = {
  os: OsFact,
  units: UnitsFact,
  packages: PackagesFact,
  disk: DiskFact,
  time_sync: TimeSyncFact,
  reachability: ReachabilityFact,
  pci: PciFact,
  jetson: JetsonFact,
  driver: DriverFact,
  kernel_log: KernelLogFact,
  device_nodes: DeviceNodesFact,
  mig_boot: MigBootFact,
  gpu_holders: GpuHoldersFact,
  gpus: GpusFact,
  mig_profiles: MigProfilesFact,
  fabric: FabricFact,
  toolkit: ToolkitFact,
  docker: DockerFact,
  containerd: ContainerdFact,
  crio: CrioFact,
  cdi: CdiFact,
  k3s: K3sFact,
  rke2: Rke2Fact,
  microk8s: MicroK8sFact,
  kube: KubeFact,
  workloads: WorkloadsFact,
} as const;

export type ProbeKey = keyof typeof factValues;
export const probeKeys = Object.keys(factValues) as ProbeKey[];
export const ProbeKey = z.enum(probeKeys as [ProbeKey, ...ProbeKey[]]);

export type FactValue<K extends ProbeKey> = z.infer<(typeof factValues)[K]>;
export type Facts = { [K in ProbeKey]: Fact<FactValue<K>> };

/** Schema of one fact by probe key. */
// Built key by key from `factValues`, so each entry has its own key's type; Object.fromEntries cannot say so.
export const factSchemas = Object.fromEntries(
  probeKeys.map((key) => [key, factSchema(factValues[key])]),
) as unknown as { [K in ProbeKey]: z.ZodType<Fact<FactValue<K>>> };
