import type { z } from 'zod';
import type { Facts, FactValue, ProbeKey } from '../probes/facts.ts';
import type { JobKind } from './job-request.ts';
import type { Disruption, Plan, PlanReason } from './step.ts';

/** Facts that a plan is made from; the engine has checked that each named one is readable. */
export type Observed<K extends ProbeKey> = { [P in K]: FactValue<P> };

/** Facts that a plan can do without: null where one could not be read. */
export type Also = { readonly [P in ProbeKey]?: FactValue<P> | null };

/**
 * Asked of the live host after the steps: does it now do what the job wanted? `answered`: the host did answer, and what
 * it said is no; an answer that stays the same for a while is not waited for any longer.
 */
export type Verdict = { ok: true; because: PlanReason[] } | { ok: false; because: PlanReason[]; answered: boolean };

export interface Job<P extends z.ZodType = z.ZodType, K extends ProbeKey = ProbeKey> {
  kind: JobKind;
  title: string;
  /** Strict: an unknown key is refused. */
  params: P;
  /** Facts that must be readable for a plan; unreadable → `blocked: fact_unreadable`. */
  needs(params: z.infer<P>): readonly K[];
  /** Facts that make the plan better and are not needed for it. */
  uses?(params: z.infer<P>): readonly ProbeKey[];
  /** The worst that a plan of this kind can do. */
  disruption: Disruption;
  /** From the grant to the settled result, undo included. */
  worstCaseMs: number;
  /** Safe to cancel once a step has begun: finish the attempt, or roll it back? */
  onCancel: 'finish' | 'roll_back';
  /** How long verification keeps asking before it says no. */
  verifyWithinMs: number;
  /** What it did must still be there after the next boot, and is verified once more then. */
  lastsBoots: boolean;
  plan(facts: Observed<K>, params: z.infer<P>, also: Also): Plan;
  /** `before` is what the plan was made on; `facts` and `also` were read after the steps. */
  verify(facts: Observed<K>, params: z.infer<P>, before: Observed<K> & Also, also: Also): Verdict;
}

export function defineJob<P extends z.ZodType, const K extends ProbeKey>(job: Job<P, K>): Job<P, K> {
  return job;
}

/** The named facts' values, or the first that could not be read. */
export function observe<K extends ProbeKey>(
  facts: Partial<Facts>,
  needs: readonly K[],
): { ok: true; observed: Observed<K> } | { ok: false; probe: K; because: string } {
  const observed: Partial<Observed<K>> = {};
  for (const key of needs) {
    const fact = facts[key];
    if (!fact || fact.value === null)
      return { ok: false, probe: key, because: fact?.unreadable?.because ?? 'not_read' };
    observed[key] = fact.value as FactValue<K>;
  }
  return { ok: true, observed: observed as Observed<K> };
}

/** Of the named facts those that could be read. */
export function alsoObserved(facts: Partial<Facts>, uses: readonly ProbeKey[]): Also {
  return Object.fromEntries(uses.map((key) => [key, facts[key]?.value ?? null]));
}
