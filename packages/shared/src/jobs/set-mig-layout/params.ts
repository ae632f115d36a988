import { z } from 'zod';
import { GpuChoice } from '../gpu-choice.ts';
import { HolderPolicy } from '../gpu-holders.ts';

/** `1g.10gb`, `1g.10gb+me`, `1g.24gb-me`: as the driver names them. */
export const profilePattern = /^[1-9]g\.[1-9]\d{0,3}gb(?:[+-][a-z.]+(?:,[a-z.]+)*)?$/;
const deviceFilter = z
  .string()
  .regex(/^0x[0-9A-Fa-f]{8}(?::0x[0-9A-Fa-f]{8})?$/, 'a device filter is 0x and eight digits: 0x20B010DE');

export const LayoutEntry = z.strictObject({
  gpus: GpuChoice.default('all'),
  /** Only GPUs with one of these PCI device ids. */
  deviceFilter: z.union([deviceFilter, z.array(deviceFilter).min(1).max(32)]).optional(),
  enabled: z.boolean().default(true),
  devices: z
    .record(
      z.string().regex(profilePattern, 'a profile is named as the driver does: 1g.10gb, 1g.10gb+me'),
      z.int().min(0).max(16),
    )
    .default({}),
});
export type LayoutEntry = z.infer<typeof LayoutEntry>;

export const SetMigLayoutParams = z
  .strictObject({
    layout: z.union([LayoutEntry, z.array(LayoutEntry).min(1).max(64)]).optional(),
    /** A configuration of mig-parted, as text, and the name of the layout in it. */
    config: z.string().min(1).max(200_000).optional(),
    name: z.string().min(1).max(128).optional(),
    holders: HolderPolicy.prefault({}),
  })
  .refine(
    ({ layout, config, name }) =>
      (layout === undefined) !== (config === undefined) && (config === undefined) === (name === undefined),
    {
      error: 'give layout, or config with name',
    },
  );
export type SetMigLayoutParams = z.infer<typeof SetMigLayoutParams>;
