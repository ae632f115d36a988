import { z } from 'zod';
import type { Disruption } from '../step.ts';
import { quiet, type StepKind } from './step-kind.ts';

export const PackageManager = z.enum(['apt', 'dnf']);
export type PackageManager = z.infer<typeof PackageManager>;

/** In place of a version: what the repository offers first (apt's candidate, dnf's newest). */
export const candidate = 'candidate';

export const PackageAt = z.object({
  name: z.string(),
  /** As the manager spells it (`5:27.5.1-1~x`), its upstream part (`27.5.1`), or `candidate`; null: not installed. */
  version: z.string().nullable(),
});
export type PackageAt = z.infer<typeof PackageAt>;

const timeoutMs = z.int();

/** Packages of one family brought to versions in one transaction; a hold on one of them is lifted and set by its own steps. */
export const SetPackages = z.object({
  do: z.literal('set_packages'),
  manager: PackageManager,
  from: z.array(PackageAt).min(1),
  to: z.array(PackageAt).min(1),
  /** Folder of package files that are taken before the repository's. */
  folder: z.string().nullable(),
  /** What goes leaves no settings behind: it had none before. */
  purge: z.boolean().default(false),
  /** What an interrupted run left half-done is finished before: of a way back. */
  finishFirst: z.boolean().default(false),
  timeoutMs,
});
export type SetPackages = z.infer<typeof SetPackages>;

/** Files of the versions that are installed now, kept so that a way back does not depend on the repository. */
export const KeepPackages = z.object({
  do: z.literal('keep_packages'),
  manager: PackageManager,
  packages: z.array(PackageAt).min(1),
  timeoutMs,
});
export type KeepPackages = z.infer<typeof KeepPackages>;

/** The files of packages put in place anew, in the version that is installed. */
export const ReinstallPackages = z.object({
  do: z.literal('reinstall_packages'),
  manager: PackageManager,
  packages: z.array(PackageAt).min(1),
  timeoutMs,
});
export type ReinstallPackages = z.infer<typeof ReinstallPackages>;

/** Fetches what the repositories offer now. `only`: of this one file of repositories, so that others' faults do not count. */
export const RefreshPackageLists = z.object({
  do: z.literal('refresh_package_lists'),
  manager: PackageManager,
  only: z.string().nullable(),
  timeoutMs,
});
export type RefreshPackageLists = z.infer<typeof RefreshPackageLists>;

/** Keeps packages at the version that they have (`apt-mark hold`, dnf's versionlock), or lets them go. */
export const HoldPackages = z.object({
  do: z.literal('hold_packages'),
  manager: PackageManager,
  names: z.array(z.string()).min(1),
  held: z.boolean(),
});
export type HoldPackages = z.infer<typeof HoldPackages>;

/** Finishes what an interrupted dpkg left, then what is missing for it (`dpkg --configure -a`, `apt-get -f install`). */
export const ConfigurePackages = z.object({
  do: z.literal('configure_packages'),
  manager: z.literal('apt'),
  timeoutMs,
});
export type ConfigurePackages = z.infer<typeof ConfigurePackages>;

const module = { name: z.string(), version: z.string(), kernel: z.string() };

/** A kernel module built from its sources in DKMS for one kernel, and put where that kernel looks for it. */
export const BuildModule = z.object({ do: z.literal('build_module'), ...module, timeoutMs });
export type BuildModule = z.infer<typeof BuildModule>;
/** Takes away what `build_module` made; the sources stay. */
export const UnbuildModule = z.object({ do: z.literal('unbuild_module'), ...module, timeoutMs });
export type UnbuildModule = z.infer<typeof UnbuildModule>;

/** Where packages of before a change are kept. */
export const keptFolder = { apt: '/var/cache/apt/gpufleet', dnf: '/var/cache/gpufleet/packages' } as const;

/** Their own scripts restart the daemon when they are installed. */
function disruptionOf({ to }: SetPackages): Disruption {
  const has = (pattern: RegExp) => to.some(({ name }) => pattern.test(name));
  if (has(/^(docker\.io|docker-ce|docker-engine|moby-engine)$/)) return 'restarts_containers';
  return has(/^(containerd|containerd\.io|cri-o|kubelet)$/) ? 'restarts_runtime' : 'none';
}

/** `a, b 1.17.8-1`: names with one version together. */
function listed(packages: readonly PackageAt[]): string {
  const byVersion = new Map<string, string[]>();
  for (const { name, version } of packages)
    byVersion.set(version ?? 'away', [...(byVersion.get(version ?? 'away') ?? []), name]);
  return [...byVersion].map(([version, names]) => `${names.join(', ')} ${version}`).join('; ');
}

/** What the executor reads just before it sets packages: names that dpkg knows in any way, settings included. */
export const KnownBefore = z.object({ known: z.array(z.string()) });
/** What it reads before it holds: those that are held. */
export const HeldBefore = z.object({ held: z.array(z.string()) });

export const packageSteps: {
  set_packages: StepKind<SetPackages>;
  keep_packages: StepKind<KeepPackages>;
  reinstall_packages: StepKind<ReinstallPackages>;
  refresh_package_lists: StepKind<RefreshPackageLists>;
  hold_packages: StepKind<HoldPackages>;
  configure_packages: StepKind<ConfigurePackages>;
  build_module: StepKind<BuildModule>;
  unbuild_module: StepKind<UnbuildModule>;
} = {
  set_packages: {
    ...quiet,
    subject: ({ to }) => listed(to),
    disruption: disruptionOf,
    downtimeMs: (step) => (disruptionOf(step) === 'none' ? 0 : 15_000),
    inverse(step, { before }) {
      const known = KnownBefore.safeParse(before).data?.known ?? step.from.map(({ name }) => name);
      const back = { from: step.to, to: step.from, folder: keptFolder[step.manager] };
      const purge = step.from.every(({ name, version }) => version !== null || !known.includes(name));
      return [{ ...step, ...back, purge, finishFirst: true }];
    },
  },
  // The files stay for an undo that is asked for later.
  keep_packages: { ...quiet, subject: ({ packages }) => listed(packages), inverse: () => [] },
  // The same version as before: what was missing of it is there again.
  reinstall_packages: { ...quiet, subject: ({ packages }) => listed(packages), inverse: () => [] },
  // Lists of a repository that is named no more are not looked at.
  refresh_package_lists: { ...quiet, subject: ({ only }) => only ?? 'all repositories', inverse: () => [] },
  hold_packages: {
    ...quiet,
    subject: ({ names, held }) => `${names.join(', ')} ${held ? 'held' : 'let go'}`,
    inverse(step, { before }) {
      const held = HeldBefore.safeParse(before).data?.held;
      const changed = held ? step.names.filter((name) => held.includes(name) !== step.held) : step.names;
      return changed.length === 0 ? [] : [{ ...step, names: changed, held: !step.held }];
    },
  },
  // What was half-done has no state to go back to.
  configure_packages: { ...quiet, subject: () => 'what was left half-done', inverse: () => [] },
  build_module: {
    ...quiet,
    subject: ({ name, version, kernel }) => `${name} ${version} for ${kernel}`,
    // `present` before: somebody else had built it.
    inverse: (step, { before }) => (before === 'present' ? [] : [{ ...step, do: 'unbuild_module' }]),
  },
  unbuild_module: {
    ...quiet,
    subject: ({ name, version, kernel }) => `${name} ${version} for ${kernel}`,
    inverse: (step) => [{ ...step, do: 'build_module' }],
  },
};
