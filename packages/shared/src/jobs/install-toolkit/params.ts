import { z } from 'zod';
import { packageVersion } from '../packages/package-questions.ts';

const HostPath = z
  .string()
  .max(512)
  .regex(/^\/[^\0\n]*$/, 'an absolute path')
  .refine((path) => !path.split('/').includes('..'), 'a path without ..');

export const InstallToolkitParams = z.strictObject({
  /** Of all four packages, e.g. 1.17.8. Absent: a good one that is there stays, else what the repository offers. */
  version: z.string().regex(packageVersion, 'a version begins with a digit').optional(),
  channel: z.enum(['stable', 'experimental']).default('stable'),
  /** On the host, with the package files: for sites without a way to a repository. */
  folder: HostPath.optional(),
  /** Keep them at this version afterwards. Absent: where apt does it; dnf needs a plugin for it. */
  hold: z.boolean().optional(),
  /** A mirror of NVIDIA's repository, and where its key comes from. */
  repository: z
    .strictObject({
      url: z
        .string()
        .max(512)
        .regex(/^https?:\/\/[^\s\][@]+$/, 'an http or https address without blanks, brackets and passwords')
        .optional(),
      keyUrl: z
        .string()
        .max(512)
        .regex(/^https:\/\/[^\s@]+$/, 'an https address')
        .optional(),
      keyFile: HostPath.optional(),
      /** Of the mirror's own key, where it does not hand on NVIDIA's. */
      keyFingerprint: z
        .string()
        .regex(/^[0-9A-Fa-f]{40}$/, '40 hexadecimal digits')
        .optional(),
    })
    .optional(),
  /** Go on although the version of now may not be had again, so that the job cannot be undone. */
  withoutWayBack: z.boolean().default(false),
});
export type InstallToolkitParams = z.infer<typeof InstallToolkitParams>;
