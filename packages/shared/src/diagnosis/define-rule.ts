import type { FactValue, ProbeKey } from '../probes/facts.ts';
import type { Finding } from './finding.ts';

/** The values of the facts that a rule named; all readable, or the rule is not asked. */
export type Needed<K extends ProbeKey> = { [P in K]: FactValue<P> };

/** A finding less what the registry fills in. */
export type Found = Omit<Finding, 'code' | 'layer' | 'consequenceOf'> & { severity: Finding['severity'] };

export interface Rule<K extends ProbeKey = ProbeKey> {
  code: Finding['code'];
  layer: Finding['layer'];
  /** One line for the docs: what evidence makes it fire. */
  title: string;
  needs: readonly K[];
  /** Codes whose presence on the same host makes this finding their consequence, nearest first. */
  consequenceOf?: readonly Finding['code'][];
  /** Empty: it does not apply. `cannot_tell`: a needed part of a readable fact is missing. */
  check(facts: Needed<K>): Found[] | { cannotTell: string };
}

export function defineRule<const K extends ProbeKey>(rule: Rule<K>): Rule<K> {
  return rule;
}
