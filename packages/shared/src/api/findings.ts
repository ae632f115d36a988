import { z } from 'zod';
import { Finding, Layer, Severity } from '../diagnosis/finding.ts';
import { CommaList, Id, PageQuery } from './common.ts';
import { SiteId } from './sites.ts';

/** A finding of one host over time. Open while `clearedAtMs` is null. */
export const HostFinding = Finding.extend({
  id: Id,
  hostId: Id,
  hostName: z.string(),
  siteId: SiteId,
  firstSeenAtMs: z.number(),
  lastSeenAtMs: z.number(),
  clearedAtMs: z.number().nullable(),
  /** How often it came (back). */
  openedCount: z.int(),
});
export type HostFinding = z.infer<typeof HostFinding>;

export const FindingQuery = PageQuery.extend({
  site: CommaList.optional(),
  code: z.string().max(128).optional(),
  severity: CommaList.pipe(z.array(Severity)).optional(),
  layer: Layer.optional(),
  host: Id.optional(),
  state: z.enum(['open', 'cleared', 'all']).default('open'),
});
export type FindingQuery = z.infer<typeof FindingQuery>;
