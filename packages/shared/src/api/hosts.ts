import { z } from 'zod';
import { Labels } from '../core/index.ts';
import { severities } from '../diagnosis/finding.ts';
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
  runtime: z.enum(['docker', 'containerd', 'k3s', 'none']).nullable(),
  runtimeVersion: z.string().nullable(),
  kubernetesRole: z.enum(['server', 'agent']).nullable(),
  clusterId: z.string().nullable(),
  mig: z.enum(['enabled', 'disabled', 'pending', 'unsupported']).nullable(),
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

export const HostQuery = PageQuery.extend({
  site: CommaList.optional(),
  /** Kubernetes selector syntax. */
  selector: z.string().max(1_000).optional(),
  status: HostStatus.optional(),
  online: z.enum(['true', 'false']).optional(),
  finding: z.string().max(128).optional(),
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
