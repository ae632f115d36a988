import type { JobRequest } from '../../jobs/job-request.ts';
import { parseRequest } from '../../jobs/plan-job.ts';
import type { ProbeKey } from '../../probes/facts.ts';
import { matchesPattern, matchesSegment } from '../../probes/path-pattern.ts';
import { probes } from '../../probes/registry.ts';
import { type Finding, severities } from '../finding.ts';
import { rules } from '../rules/index.ts';

/** Throws when a finding is not what its rule promises: severity, remedies, evidence that can be looked at. */
export function expectPromised(finding: Finding): void {
  const own = rules.filter(({ code }) => code === finding.code);
  const worst = Math.min(...own.map(({ severity }) => severities.indexOf(severity)));
  const kinds = own.flatMap(({ proposes }) => proposes);
  const needs = own.flatMap((rule) => [...rule.needs, ...(rule.uses ?? [])]);
  const promises: [string, boolean][] = [
    ['is no worse than its rule says', severities.indexOf(finding.severity) >= worst],
    ['names only job kinds that its rule proposes', !finding.remedy?.jobs.some(({ kind }) => !kinds.includes(kind))],
    ['proposes params that the kind accepts', (finding.remedy?.jobs ?? []).every(isAccepted)],
    ['has evidence', finding.evidence.length > 0],
    [
      'names only sources that a probe of its needs reads',
      finding.evidence.every(({ source }) => isRead(source, needs)),
    ],
    ['quotes something of each source', finding.evidence.every(({ quote }) => quote !== '')],
    ['says what to do', finding.severity === 'info' || (finding.remedy ?? finding.person) !== null],
  ];
  for (const [promise, kept] of promises) if (!kept) throw new Error(`${finding.code} breaks a promise: ${promise}`);
}

/** A kind that has no plan yet has no schema of its params either. */
function isAccepted({ kind, params }: JobRequest): boolean {
  const request = parseRequest(kind, params);
  return request.ok || request.because === 'not_available_yet';
}

/** A person who looks at the source must find what the probe found there. */
function isRead(source: string, needs: readonly ProbeKey[]): boolean {
  return probes
    .filter(({ key }) => needs.includes(key))
    .some(({ inputs }) => {
      const [kind, ...rest] = source.split(':');
      const place = rest.join(':');
      if (kind === 'file') return inputs.files.some((pattern) => matchesPattern(pattern, place));
      if (kind === 'url') return (inputs.urls ?? []).some((pattern) => matchesPattern(pattern, place));
      return inputs.commands.some(({ argv }) => matchesSegment(`command:${argv.join(' ')}`, source));
    });
}
