import { type JobRequest, needsOfRequest, type Plan, planJob } from '@gpufleet/shared/jobs';
import type { Facts } from '@gpufleet/shared/probes';
import type { EngineDeps } from './engine.ts';
import { foreseeFiles } from './foresee-files.ts';
import { foreseePackages } from './foresee-packages.ts';

/** A plan from facts read now. Its edits are tried on the texts as well: facts do not tell every shape of a file. */
export async function planNow(deps: EngineDeps, request: JobRequest): Promise<{ plan: Plan; facts: Partial<Facts> }> {
  const only = [...needsOfRequest(request)];
  const facts = await deps.collectFacts({ host: deps.host, sha256: deps.sha256, only });
  const plan = planJob(request, facts);
  if (plan.outcome !== 'plan') return { plan, facts };
  const foreseen = await foreseeFiles(deps, plan.steps, async () => undefined);
  const objection = foreseen.ok ? await foreseePackages(deps.host, plan.steps) : foreseen.because;
  return objection === null ? { plan, facts } : { plan: { outcome: 'blocked', because: [objection] }, facts };
}
