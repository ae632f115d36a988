import { z } from 'zod';
import { Id, lineOf } from './common.ts';
import { SiteId } from './sites.ts';

export const Role = z.enum(['viewer', 'operator', 'admin']);
export type Role = z.infer<typeof Role>;

export const ApiToken = z.object({
  id: Id,
  name: z.string(),
  role: Role,
  createdBy: z.string(),
  createdAtMs: z.number(),
  expiresAtMs: z.number().nullable(),
  lastUsedAtMs: z.number().nullable(),
});
export type ApiToken = z.infer<typeof ApiToken>;
export const CreateApiToken = z.strictObject({
  name: lineOf(63).min(1),
  role: Role,
  expiresInMs: z
    .int()
    .min(60_000)
    .max(3_650 * 86_400_000)
    .optional(),
});
/** The secret is shown once. */
export const CreatedApiToken = ApiToken.extend({ token: z.string() });

export const EnrollmentToken = z.object({
  id: Id,
  siteId: SiteId,
  usesLeft: z.int(),
  uses: z.int(),
  createdBy: z.string(),
  createdAtMs: z.number(),
  expiresAtMs: z.number(),
  revoked: z.boolean(),
});
export type EnrollmentToken = z.infer<typeof EnrollmentToken>;
export const CreateEnrollmentToken = z.strictObject({
  siteId: SiteId,
  uses: z.int().min(1).max(10_000).default(1),
  expiresInMs: z
    .int()
    .min(60_000)
    .max(90 * 86_400_000)
    .default(86_400_000),
});
export const CreatedEnrollmentToken = EnrollmentToken.extend({ token: z.string() });

export const AuditEntry = z.object({
  seq: z.int(),
  atMs: z.number(),
  /** `token:NAME`, `host:ID` or `system:PART`. */
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  requestId: z.string().nullable(),
  before: z.json().nullable(),
  after: z.json().nullable(),
});
export type AuditEntry = z.infer<typeof AuditEntry>;

/** What `/events` sends: `id` resumes by Last-Event-ID. */
export const FleetEvent = z.object({
  id: z.int(),
  atMs: z.number(),
  type: z.string(),
  siteId: z.string().nullable(),
  hostId: z.string().nullable(),
  rolloutId: z.string().nullable(),
  data: z.json(),
});
export type FleetEvent = z.infer<typeof FleetEvent>;
