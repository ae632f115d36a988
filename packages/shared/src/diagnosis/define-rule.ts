import type { JobKind } from '../jobs/job-request.ts';
import type { UnreadableReason } from '../probes/fact.ts';
import type { FactValue, ProbeKey } from '../probes/facts.ts';
import type { Finding } from './finding.ts';

/** The values of the facts that a rule named; all readable, or the rule is not asked. */
export type Needed<K extends ProbeKey> = { [P in K]: FactValue<P> };

/** The same before it is known that all are readable: null is a fact that could not be read. */
export type Seen<K extends ProbeKey> = { [P in K]: FactValue<P> | null };

/** What a rule may ask about the facts it named, beside their values. */
export interface Asked<K extends ProbeKey> {
  /**
   * Why this part, or something in it, is missing although its fact is readable, in words; null when the host has no
   * such value.
   */
  unread(key: K, path: string): string | null;
  /** Why a fact that the rule only uses could not be read; null when it was read. */
  unreadable(key: K): UnreadableReason | null;
  /** Why the lists of a fact may lack something at their end, in words; null: they are whole. */
  cutShort(key: K): string | null;
}

/** A finding less what the registry fills in. */
export type Found = Omit<Finding, 'code' | 'layer' | 'consequenceOf'> & { severity: Finding['severity'] };

export interface Rule<K extends ProbeKey = ProbeKey, U extends ProbeKey = ProbeKey> {
  code: Finding['code'];
  layer: Finding['layer'];
  /** The worst that it can say. */
  severity: Finding['severity'];
  /** One line for the docs: what evidence makes it fire. */
  title: string;
  /** One line for the docs: when it stays quiet although the evidence looks alike. */
  notWhen: string;
  /** Job kinds that its remedies may name; none: it tells, or a person must act. */
  proposes: readonly JobKind[];
  needs: readonly K[];
  /** Facts that it looks at where they could be read, and judges without where not: null then. */
  uses?: readonly U[];
  /**
   * Rules that stand on PCI or NVML are wrong on a Tegra board whose GPU is not behind them: `never` asked on Tegra,
   * or only `with_nvml`. Absent: the board makes no difference.
   */
  onTegra?: 'never' | 'with_nvml';
  /**
   * It is about what stands on the driver: quiet where the driver is known not to answer (other rules tell), and no
   * claim where that is not known. Asked with the facts driver and jetson.
   */
  standsOnDriver?: true;
  /** Lists that it looks through: where one was cut short, nothing found is no proof, and no list excludes the rule. */
  searches?: readonly NoInfer<K | U>[];
  /** Lists whose lack of something it takes for evidence: where one was cut short, what it found is no proof. */
  missesIn?: readonly NoInfer<K | U>[];
  /** Codes whose presence on the same host makes this finding their consequence, nearest first. */
  consequenceOf?: readonly Finding['code'][];
  /** True when what could be read already excludes the rule, so that an unreadable fact is no "cannot tell". */
  excludedBy?(seen: Seen<K | U>): boolean;
  /** What the very reason why a fact could not be read proves; null: nothing. */
  ifUnreadable?(key: K, reason: UnreadableReason): Found | null;
  /** Empty: it does not apply. `cannotTell`: a needed part of a readable fact is missing. */
  check(facts: Needed<K> & Seen<Exclude<U, K>>, asked: Asked<K | U>): Found[] | { cannotTell: string };
}

export function defineRule<const K extends ProbeKey, const U extends ProbeKey = never>(rule: Rule<K, U>): Rule<K, U> {
  return rule;
}
