import { z } from 'zod';
import { Severity, severities } from '../diagnosis/finding.ts';
import { HostClass, HostFilter, HostStatus } from './hosts.ts';

export const FleetQuery = HostFilter;
export type FleetQuery = HostFilter;

/** What hosts can differ in, but for the cluster they belong to. */
export const Variant = HostClass.omit({ clusterId: true });
export type Variant = z.infer<typeof Variant>;

/** What the fleet is made of, and what is wrong in it. Decommissioned hosts do not count. */
export const FleetSummary = z.object({
  hosts: z.object({ total: z.int(), online: z.int(), byStatus: z.partialRecord(HostStatus, z.int()) }),
  /** Hosts by what they are, the most frequent first; at most 500. */
  variants: z.array(z.object({ variant: Variant, hosts: z.int(), sites: z.int() })),
  /** How many variants there are beyond those listed. */
  moreVariants: z.int(),
  /** Hosts by one property: gpu, driver, branch, runtime, mig, platform, toolkit, os, l4t, role. */
  traits: z.record(z.string(), z.array(z.object({ value: z.string(), hosts: z.int() }))),
  /** Open findings. */
  findings: z.object({
    bySeverity: z.record(z.enum(severities), z.int()),
    byCode: z.array(z.object({ code: z.string(), severity: Severity, hosts: z.int() })),
  }),
});
export type FleetSummary = z.infer<typeof FleetSummary>;
