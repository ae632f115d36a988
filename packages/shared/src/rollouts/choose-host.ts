import type { HostStatus } from '../api/hosts.ts';
import { toCanonicalJson } from '../core/json.ts';
import type { Labels } from '../core/labels.ts';
import type { Finding } from '../diagnosis/finding.ts';
import type { JobRequest } from '../jobs/job-request.ts';
import { matchesSelector, type Selector } from './selector.ts';
import type { RolloutSpec } from './spec.ts';

/** A host as far as choosing it goes. `findings` are its open ones. */
export interface ChoosableHost {
  id: string;
  name: string;
  siteId: string;
  status: HostStatus;
  labels: Labels;
  findings: readonly Pick<Finding, 'code' | 'remedy' | 'person' | 'consequenceOf'>[];
}

export type Choice =
  /** The rollout says nothing of it. */
  | { at: 'not_targeted' }
  | { at: 'left_out'; because: string; detail: string }
  | { at: 'chosen'; requests: JobRequest[] };

/** More jobs than this in one slot is no plan that a person can approve. */
const maxJobs = 10;

/** Does the rollout target this host, and with which jobs? */
export function chooseHost(spec: RolloutSpec, selector: Selector, host: ChoosableHost): Choice {
  const { target } = spec;
  if (target.sites && !target.sites.includes(host.siteId)) return { at: 'not_targeted' };
  if (!matchesSelector(host.labels, selector)) return { at: 'not_targeted' };
  if (target.exclude.includes(host.id) || target.exclude.includes(host.name))
    return leftOut('excluded', 'the rollout excludes it');
  if (host.status !== 'accepted') return leftOut(host.status, `the host is ${host.status}`);
  const codes = new Set(host.findings.map((finding) => finding.code));
  if (target.findings && !target.findings.some((code) => codes.has(code)))
    return leftOut('no_finding', `it has none of ${target.findings.join(', ')}`);
  return spec.remedyOf === undefined
    ? { at: 'chosen', requests: spec.jobs ?? [] }
    : chooseRemedy(spec.remedyOf, host.findings);
}

/** Each host gets what its own findings of the code propose; equal jobs once. */
function chooseRemedy(code: string, findings: ChoosableHost['findings']): Choice {
  const found = findings.filter((finding) => finding.code === code);
  if (found.length === 0) return leftOut('no_finding', `it has no finding ${code}`);
  const requests = new Map<string, JobRequest>();
  for (const request of found.flatMap((finding) => finding.remedy?.jobs ?? []))
    requests.set(toCanonicalJson(request), request);
  if (requests.size > maxJobs) return leftOut('too_many_jobs', `its findings propose ${requests.size} jobs`);
  if (requests.size > 0) return { at: 'chosen', requests: [...requests.values()] };
  const person = found.find((finding) => finding.person !== null)?.person;
  if (person) return leftOut('remedy_needs_person', person);
  const cause = found.find((finding) => finding.consequenceOf !== null)?.consequenceOf?.code;
  return leftOut('no_remedy', cause ? `it follows from ${cause}: repair that first` : `no job repairs ${code} here`);
}

function leftOut(because: string, detail: string): Choice {
  return { at: 'left_out', because, detail };
}
