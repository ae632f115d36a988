import type { FactValue } from '../../probes/facts.ts';
import { dpkgQueryArgv, rpmArgv } from '../../probes/packages/parse-dpkg.ts';
import { defineRule } from '../define-rule.ts';
import { listed } from '../host-questions.ts';
import { sources } from '../sources.ts';

type Package = FactValue<'packages'>['packages'][number];

/** The same code as of versions on disk, by what the package manager says; it has no need of the driver's files. */
export const driverPackagesBroken = defineRule({
  code: 'DRIVER_PACKAGES_INCONSISTENT',
  layer: 'driver',
  severity: 'blocker',
  title: 'Packages of the driver are half-configured, or NVIDIA’s installer and packages both put a driver on the disk',
  notWhen: 'a package manager runs right now; Tegra; only one way of installing is there',
  proposes: ['repair_packages'],
  needs: ['packages'],
  onTegra: 'never',
  excludedBy: ({ packages }) =>
    packages !== null && (packages.busy === true || !packages.packages.some(({ group }) => group === 'driver')),
  check({ packages }) {
    const source = `command:${(packages.manager === 'rpm' ? rpmArgv : dpkgQueryArgv).join(' ')}`;
    const own = packages.packages.filter(({ group }) => group === 'driver');
    const half = own.filter(({ state }) => /^(?:half-|unpacked)/.test(state));
    const core = own.filter(({ name, state }) => state === 'installed' && isCore(name));
    const quotes = (some: Package[]) =>
      some.slice(0, 5).map(({ name, version, state }) => ({ source, quote: `${name} ${version}: ${state}` }));
    if (packages.driverInstalledByRunfile && core.length > 0)
      return [
        {
          subject: null,
          severity: 'blocker',
          summary: "The driver was installed twice: by NVIDIA's installer and by packages",
          evidence: [{ source: sources.file('/usr/bin/nvidia-uninstall'), quote: 'present' }, ...quotes(core)],
          remedy: null,
          person:
            'Take one of them away (nvidia-uninstall, or purge the packages), then install the other anew in one version.',
        },
      ];
    if (half.length === 0) return [];
    return [
      {
        subject: null,
        severity: 'blocker',
        summary: `Packages of the driver are not properly installed: ${listed(half.slice(0, 5).map(({ name }) => name))}`,
        evidence: quotes(half),
        remedy: { jobs: [{ kind: 'repair_packages', params: {} }], approval: 'approve' },
        person: null,
      },
    ];
  },
});

/** Packages that bring a module or the library itself; tools and firmware may stand beside NVIDIA's installer. */
function isCore(name: string): boolean {
  return /^(?:nvidia-(?:driver|dkms|kernel|open)|libnvidia-(?:compute|ml)|linux-modules-nvidia|kmod-nvidia|akmod-nvidia|libcuda1)/.test(
    name,
  );
}
