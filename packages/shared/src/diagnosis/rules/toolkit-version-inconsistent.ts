import type { JobRequest } from '../../jobs/job-request.ts';
import { compareVersions } from '../../probes/versions.ts';
import { defineRule } from '../define-rule.ts';
import { sources } from '../sources.ts';
import { knownBadToolkits } from './known-bad-toolkits.ts';

/** The packages that only work together at one version. */
const parts = [
  'libnvidia-container1',
  'libnvidia-container-tools',
  'nvidia-container-toolkit',
  'nvidia-container-toolkit-base',
];

export const toolkitVersionInconsistent = defineRule({
  code: 'TOOLKIT_VERSION_INCONSISTENT',
  layer: 'toolkit',
  severity: 'degraded',
  title: 'The four packages of the toolkit have different versions, or a version that is known not to work here',
  notWhen: 'packages held at one version; other packages of the vendor, which may have versions of their own',
  proposes: ['install_toolkit', 'hold_packages'],
  needs: ['packages', 'units'],
  searches: ['units'],
  // Nothing of the toolkit came from a package: versions cannot differ.
  excludedBy: ({ packages }) => packages !== null && !packages.packages.some(({ name }) => parts.includes(name)),
  check(facts) {
    const installed = facts.packages.packages.filter(
      ({ name, state }) => parts.includes(name) && state === 'installed',
    );
    const versions = [...new Set(installed.map(({ version }) => upstream(version)))].sort(compareVersions);
    const newest = versions.at(-1);
    if (newest === undefined) return [];
    const source = facts.packages.manager === 'rpm' ? sources.rpmPackages : sources.packages;
    const evidence = installed.map(({ name, version }) => ({ source, quote: `${name} ${version}` }));
    if (versions.length > 1) {
      const jobs: JobRequest[] = [
        { kind: 'install_toolkit', params: { version: newest } },
        { kind: 'hold_packages', params: { packages: installed.map(({ name }) => name) } },
      ];
      return [
        {
          subject: null,
          severity: 'degraded',
          summary: `The toolkit's packages have different versions (${versions.join(', ')}): containers can start without a GPU`,
          evidence,
          remedy: { jobs, approval: 'auto' },
          person: null,
        },
      ];
    }
    const bad = knownBadToolkits.find(
      ({ from, to, appliesTo }) =>
        compareVersions(newest, from) >= 0 && compareVersions(newest, to) <= 0 && appliesTo(facts),
    );
    if (bad === undefined) return [];
    return [
      {
        subject: null,
        // What it breaks is found where it is broken; a host that was set up past it works.
        severity: 'info',
        summary: `Toolkit ${newest} is known not to work on a host like this: ${bad.why}`,
        evidence,
        remedy: { jobs: [{ kind: 'install_toolkit', params: {} }], approval: 'approve' },
        person: null,
      },
    ];
  },
});

/** `5:1.17.8-1~x` without epoch and build: `1.17.8`. */
function upstream(version: string): string {
  return version.replace(/^\d+:/, '').replace(/[-~+].*$/, '');
}
