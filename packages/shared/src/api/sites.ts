import { z } from 'zod';
import { Window } from '../rollouts/spec.ts';
import { lineOf } from './common.ts';

export const SiteId = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'a site id is 1–63 small letters, digits, -');

/** A freeze: nothing starts at the site between the two moments. */
export const Freeze = z.strictObject({
  from: z.iso.datetime({ offset: true }),
  to: z.iso.datetime({ offset: true }),
  reason: lineOf(200).min(1),
});

const settings = {
  /** IANA zone, e.g. Europe/Berlin. */
  timezone: z.string().min(1).max(64),
  displayName: lineOf(120).nullable(),
  /** Default window for rollouts that say `zone: site` and no window of their own; null = any time. */
  window: Window.nullable(),
  freezes: z.array(Freeze).max(100),
  /** New hosts wait for an operator's `accept`. */
  requireApproval: z.boolean(),
};

export const Site = z.object({
  id: SiteId,
  ...settings,
  hosts: z.int(),
  online: z.int(),
  createdAtMs: z.number(),
  version: z.int(),
});
export type Site = z.infer<typeof Site>;

export const CreateSite = z.strictObject({
  id: SiteId,
  timezone: settings.timezone.default('Etc/UTC'),
  displayName: settings.displayName.default(null),
  window: settings.window.default(null),
  freezes: settings.freezes.default([]),
  requireApproval: settings.requireApproval.default(false),
});
export type CreateSite = z.infer<typeof CreateSite>;

export const UpdateSite = z.strictObject(settings).partial();
export type UpdateSite = z.infer<typeof UpdateSite>;
