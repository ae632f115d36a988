import { z } from 'zod';

/** Labels of a host: Kubernetes label syntax without the prefix rules' length tables. */
export const LabelKey = z
  .string()
  .regex(/^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$/, 'a label key is 1–63 letters, digits, . _ / -');
export const LabelValue = z
  .string()
  .regex(/^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/, 'a label value is up to 63 letters, digits, . _ -');
export const Labels = z.record(LabelKey, LabelValue);
export type Labels = z.infer<typeof Labels>;
