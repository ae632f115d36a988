import { z } from 'zod';
import { packageName, packageVersion } from '../packages/package-questions.ts';

const Names = z.array(z.string().regex(packageName, 'the name of a package')).min(1).max(50);

export const RepairPackagesParams = z
  .strictObject({
    /** These are installed, or brought to `version`; absent: what the host itself shows to be broken is repaired. */
    packages: Names.optional(),
    /** Of all of `packages`; absent: what the repositories offer. */
    version: z.string().regex(packageVersion, 'a version begins with a digit').optional(),
    /** JetPack's packages of lists for containers whose list is gone: put in place anew, or installed. */
    reinstall: z
      .array(z.string().regex(/^nvidia-container-csv-[a-z0-9-]{1,40}$/, 'a package of lists for containers'))
      .min(1)
      .max(20)
      .optional(),
    /** To which all packages of the driver are brought when they are mixed; absent: that of the loaded module, else the newest. */
    driverVersion: z
      .string()
      .regex(/^\d{3}\.\d{1,4}(\.\d{1,4})?$/, 'a version of the driver')
      .optional(),
    /** Go on although the versions of now may not be had again, so that the job cannot be undone. */
    withoutWayBack: z.boolean().default(false),
  })
  .refine(({ packages, version }) => version === undefined || packages !== undefined, 'a version is for `packages`');
export type RepairPackagesParams = z.infer<typeof RepairPackagesParams>;
