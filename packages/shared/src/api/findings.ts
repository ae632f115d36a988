import { z } from 'zod';
import { Finding, Layer, Severity } from '../diagnosis/finding.ts';
import { CommaList, Id, PageQuery } from './common.ts';
import { HostFilter } from './hosts.ts';
import { SiteId } from './sites.ts';

/** A finding of one host over time. Open while `clearedAtMs` is null. */
export const HostFinding = Finding.extend({
  id: Id,
  hostId: Id,
  hostName: z.string(),
  siteId: SiteId,
  firstSeenAtMs: z.number(),
  lastSeenAtMs: z.number(),
  /** When it opened for the last time: later than `firstSeenAtMs` where it had cleared and came back. */
  openedAtMs: z.number(),
  clearedAtMs: z.number().nullable(),
  /** How often it came (back). */
  openedCount: z.int(),
});
export type HostFinding = z.infer<typeof HostFinding>;

/** One turn in a finding's life; `severity`: it went on with another severity. */
export const FindingTurn = z.object({
  atMs: z.number(),
  turn: z.enum(['opened', 'reopened', 'cleared', 'severity']),
  severity: Severity,
});
export type FindingTurn = z.infer<typeof FindingTurn>;

/** A finding with its newest turns, oldest first. */
export const FindingStory = HostFinding.extend({ turns: z.array(FindingTurn) });
export type FindingStory = z.infer<typeof FindingStory>;

export const FindingQuery = PageQuery.extend({
  ...HostFilter.shape,
  code: z.string().max(128).optional(),
  severity: CommaList.pipe(z.array(Severity)).optional(),
  layer: Layer.optional(),
  host: Id.optional(),
  state: z.enum(['open', 'cleared', 'all']).default('open'),
});
export type FindingQuery = z.infer<typeof FindingQuery>;
