import { z } from 'zod';
import type { Observed, Verdict } from '../define-job.ts';
import { installedOf, managerOf, packageName, whyNoChange } from '../packages/package-questions.ts';
import { noop, reason } from '../plan-parts.ts';
import type { Plan } from '../step.ts';

export const HoldPackagesParams = z.strictObject({
  packages: z.array(z.string().regex(packageName, 'the name of a package')).min(1).max(100),
  /** false: an upgrade may change them again. */
  held: z.boolean().default(true),
});
export type HoldPackagesParams = z.infer<typeof HoldPackagesParams>;

type Facts = Observed<'packages'>;

export function planHold({ packages }: Facts, params: HoldPackagesParams): Plan {
  const names = [...new Set(params.packages)];
  const manager = managerOf(packages);
  const installed = installedOf(packages, names);
  const missing = names.filter((name) => !installed.some((one) => one.name === name));
  const differing = installed.filter(({ held }) => held !== params.held).map(({ name }) => name);
  const problem = whyNoChange(packages, { repairs: true });
  if (manager === null) return { outcome: 'blocked', because: problem ? [problem] : [] };
  if (missing.length > 0)
    return {
      outcome: 'blocked',
      because: missing.map((name) =>
        reason('package_not_installed', `${name} is not installed, or is none that gpufleet watches`),
      ),
    };
  if (differing.length === 0)
    return noop(
      'already_set',
      `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ${params.held ? 'held' : 'not held'}`,
    );
  if (problem) return { outcome: 'blocked', because: [problem] };
  return {
    outcome: 'plan',
    because: differing.map((name) => reason('hold_differs', `${name} is ${params.held ? 'not held' : 'held'}`)),
    steps: [{ do: 'hold_packages', manager, names: differing, held: params.held }],
    holders: [],
  };
}

export function verifyHold({ packages }: Facts, params: HoldPackagesParams): Verdict {
  const installed = installedOf(packages, params.packages);
  const wrong = params.packages.filter((name) => installed.find((one) => one.name === name)?.held !== params.held);
  if (wrong.length > 0)
    return {
      ok: false,
      because: wrong.map((name) => reason('hold_differs', `${name} is not as asked`)),
      answered: true,
    };
  return { ok: true, because: [reason('live_as_asked', `the package manager lists ${installed.length} as asked`)] };
}
