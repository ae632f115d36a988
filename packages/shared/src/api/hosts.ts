import { z } from 'zod';
import { Labels } from '../core/index.ts';
import { Severity, severities } from '../diagnosis/finding.ts';
import { CommaList, Id, PageQuery, Reason } from './common.ts';
import { SiteId } from './sites.ts';

/** `quarantined`: a roll-back failed or the identity is doubled; no grant until a person lifts it. */
export const HostStatus = z.enum(['pending', 'accepted', 'rejected', 'quarantined', 'decommissioned']);
export type HostStatus = z.infer<typeof HostStatus>;

/** What rollouts, filters and the summary sort hosts by; derived from facts. null = not known. */
export const HostClass = z.object({
  platform: z.enum(['x86', 'arm', 'jetson']).nullable(),
  gpuModel: z.string().nullable(),
  gpuCount: z.int().nullable(),
  driverVersion: z.string().nullable(),
  /** First part of the version: 550, 570 … */
  driverBranch: z.string().nullable(),
  /** The engine that runs GPU containers here. */
  runtime: z.enum(['docker', 'containerd', 'crio', 'k3s', 'rke2', 'microk8s', 'none']).nullable(),
  runtimeVersion: z.string().nullable(),
  kubernetesRole: z.enum(['server', 'agent']).nullable(),
  clusterId: z.string().nullable(),
  mig: z.enum(['enabled', 'disabled', 'pending', 'unsupported']).nullable(),
  toolkitVersion: z.string().nullable(),
  /** Distribution and release: `ubuntu 22.04`. */
  os: z.string().nullable(),
  /** Jetson Linux release: 36.4.3. */
  l4t: z.string().nullable(),
});
export type HostClass = z.infer<typeof HostClass>;

export const Host = z.object({
  id: Id,
  siteId: SiteId,
  name: z.string(),
  status: HostStatus,
  /** Why it is quarantined, rejected or decommissioned. */
  statusReason: z.string().nullable(),
  online: z.boolean(),
  lastSeenAtMs: z.number().nullable(),
  labels: Labels,
  class: HostClass,
  agentVersion: z.string(),
  bootId: z.string().nullable(),
  clockSkewMs: z.number().nullable(),
  findings: z.record(z.enum(severities), z.int()),
  enrolledAtMs: z.number(),
  version: z.int(),
});
export type Host = z.infer<typeof Host>;

/** Which hosts a list is about: by place, labels, and what their facts say they are. */
export const HostFilter = z.strictObject({
  site: CommaList.optional(),
  /** Kubernetes selector syntax. */
  selector: z.string().max(1_000).optional(),
  /** Part of the GPU model's name, capitals aside: `a100`. */
  gpu: z.string().min(1).max(128).optional(),
  /** A driver's branch or whole version: `550`, `550.163.01`. */
  driver: z.string().min(1).max(64).optional(),
  mig: HostClass.shape.mig.unwrap().optional(),
  runtime: HostClass.shape.runtime.unwrap().optional(),
  platform: HostClass.shape.platform.unwrap().optional(),
});
export type HostFilter = z.infer<typeof HostFilter>;

export const HostQuery = PageQuery.extend({
  ...HostFilter.shape,
  status: HostStatus.optional(),
  online: z.enum(['true', 'false']).optional(),
  /** Hosts with this open finding. */
  finding: z.string().max(128).optional(),
  /** Hosts with an open finding of one of these severities. */
  severity: CommaList.pipe(z.array(Severity)).optional(),
  name: z.string().max(64).optional(),
});
export type HostQuery = z.infer<typeof HostQuery>;

/** `labels` replaces all labels; null as a value removes one when sent through `labelChanges`. */
export const UpdateHost = z.strictObject({
  siteId: SiteId.optional(),
  labels: Labels.optional(),
  labelChanges: z.record(z.string(), z.string().nullable()).optional(),
});
export type UpdateHost = z.infer<typeof UpdateHost>;

/** POST /hosts/{id}/{accept|reject|decommission|lift-quarantine} */
export const HostAction = z.strictObject({ reason: Reason });

export const FactEntry = z.object({
  name: z.string(),
  hash: z.string(),
  receivedAtMs: z.number(),
  body: z.json(),
});
export type FactEntry = z.infer<typeof FactEntry>;

/** One change of a fact: by value path, old and new. */
export const FactChange = z.object({
  atMs: z.number(),
  name: z.string(),
  path: z.string(),
  before: z.json().nullable(),
  after: z.json().nullable(),
});
export type FactChange = z.infer<typeof FactChange>;

/** A moment: ISO 8601 with a zone, or milliseconds since 1970. */
export const Moment = z.union([
  z.coerce.number().int().min(0).max(8_640_000_000_000_000),
  z.iso.datetime({ offset: true }),
]);
export type Moment = z.infer<typeof Moment>;

const changesOf = {
  since: Moment.optional(),
  /** Name of the fact: `driver`. */
  fact: z.string().max(64).optional(),
  /** Where a path begins: `value.loadedVersion`. */
  path: z.string().max(256).optional(),
};

export const HistoryQuery = PageQuery.extend(changesOf);
export type HistoryQuery = z.infer<typeof HistoryQuery>;

export const ChangeQuery = HistoryQuery.extend(HostFilter.shape);
export type ChangeQuery = z.infer<typeof ChangeQuery>;

/** A change of a fact, and whose. */
export const HostFactChange = FactChange.extend({ hostId: Id, hostName: z.string(), siteId: SiteId });
export type HostFactChange = z.infer<typeof HostFactChange>;

export const DifferenceQuery = z.strictObject({ ...changesOf, since: Moment });
export type DifferenceQuery = z.infer<typeof DifferenceQuery>;

/** What is different now from what was then, whatever lay between. */
export const FactDifferences = z.object({
  sinceMs: z.number(),
  /** The history reaches back to here only: differences from before are not known. null: it reaches back to `sinceMs`. */
  knownSinceMs: z.number().nullable(),
  differences: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      before: z.json().nullable(),
      after: z.json().nullable(),
      /** How often it changed, and when first and last. */
      changes: z.int(),
      firstAtMs: z.number(),
      lastAtMs: z.number(),
    }),
  ),
});
export type FactDifferences = z.infer<typeof FactDifferences>;
