import type { UnreadableReason } from '../probes/fact.ts';
import type { Facts, ProbeKey } from '../probes/facts.ts';
import { cutShort } from './cut-short.ts';
import type { Asked, Found, Needed, Rule, Seen } from './define-rule.ts';
import { whyDriverUnknown } from './driver-questions.ts';
import { type CannotTell, type Diagnosis, type Finding, severities } from './finding.ts';
import { driverAnswers } from './host-questions.ts';
import { orderFindings } from './order-findings.ts';
import { inWords, reasonInWords } from './reasons.ts';
import { rules } from './rules/index.ts';
import { tegraGuard } from './tegra-guard.ts';

/** What the rules say of these facts. Pure: the same facts give the same diagnosis, in the same order. */
export function diagnose(facts: Partial<Facts>): Diagnosis {
  const raw: { rule: Rule; finding: Finding }[] = [];
  const cannotTell: CannotTell[] = [];
  for (const rule of rules) {
    const said = askRule(rule, facts);
    if ('cannotTell' in said) cannotTell.push({ code: rule.code, because: said.cannotTell });
    else for (const found of said.found) raw.push({ rule, finding: toFinding(rule, found) });
  }
  const all = orderFindings(raw.map(({ finding }) => finding));
  const findings = raw.map(({ rule, finding }) => withCause(finding, rule.consequenceOf ?? [], all));
  return { findings: orderFindings(findings), cannotTell: mergeByCode(cannotTell) };
}

/** One rule on these facts: what it found, or why it cannot tell. */
function askRule(rule: Rule, facts: Partial<Facts>): { found: Found[] } | { cannotTell: string } {
  const seen = valuesOf([...rule.needs, ...(rule.uses ?? [])], facts);
  const cut = firstCut(rule.searches, facts);
  if (rule.excludedBy?.(cut === null ? seen : without(seen, rule.searches ?? []))) return { found: [] };
  if (rule.standsOnDriver && answerOfDriver(facts) === false) return { found: [] };
  if (rule.onTegra) {
    const guard = tegraGuard(rule.onTegra, facts);
    if (guard.say === 'off') return { found: [] };
    if (guard.say === 'cannot_tell') return { cannotTell: guard.because };
  }
  const unreadable = rule.needs.filter((key) => seen[key] === null);
  const proven = unreadable.flatMap((key) => {
    const reason = facts[key]?.unreadable;
    return (reason && rule.ifUnreadable?.(key, reason)) || [];
  });
  if (proven.length > 0) return { found: proven };
  if (unreadable.length > 0) return { cannotTell: unreadable.map((key) => whyUnread(key, facts)).join('; ') };
  // No key that it needs is null after the check above.
  const said = rule.check(seen as Needed<ProbeKey>, askedOf(facts));
  if (!Array.isArray(said)) return said;
  const doubt = said.length === 0 ? cut : whyNoClaim(rule, facts);
  return doubt === null ? { found: said } : { cannotTell: doubt };
}

function firstCut(keys: readonly ProbeKey[] = [], facts: Partial<Facts>): string | null {
  return keys.map((key) => cutShort(key, facts)).find((why) => why !== null) ?? null;
}

function without(seen: Seen<ProbeKey>, keys: readonly ProbeKey[]): Seen<ProbeKey> {
  return { ...seen, ...Object.fromEntries(keys.map((key) => [key, null])) };
}

/** Why what it found may be no fault of the host, or none that this rule should tell; null: it is proven. */
function whyNoClaim(rule: Rule, facts: Partial<Facts>): string | null {
  const cut = firstCut(rule.missesIn, facts);
  if (cut !== null || !rule.standsOnDriver || answerOfDriver(facts) !== null) return cut;
  return `whether the driver answers is not known: ${whyDriverUnknown(askedOf(facts))}`;
}

function answerOfDriver({ driver, jetson }: Partial<Facts>): boolean | null {
  return driver?.value && jetson?.value ? driverAnswers({ driver: driver.value, jetson: jetson.value }) : null;
}

function valuesOf(needs: readonly ProbeKey[], facts: Partial<Facts>): Seen<ProbeKey> {
  // Only the keys that the rule named are filled: the rule's own type hides the others from it.
  return Object.fromEntries(needs.map((key) => [key, facts[key]?.value ?? null])) as Seen<ProbeKey>;
}

function askedOf(facts: Partial<Facts>): Asked<ProbeKey> {
  return {
    unread(key, path) {
      const part = facts[key]?.partial.find(
        (missing) =>
          missing.path === '' || `${path}.`.startsWith(`${missing.path}.`) || missing.path.startsWith(`${path}.`),
      );
      return part ? inWords(part.because) : null;
    },
    unreadable: (key) => (facts[key]?.value == null ? (facts[key]?.unreadable ?? notRead) : null),
    cutShort: (key) => cutShort(key, facts),
  };
}

const notRead: UnreadableReason = { because: 'not_read', detail: '' };

function whyUnread<K extends ProbeKey>(key: K, facts: { [P in K]?: Facts[P] | undefined }): string {
  const reason = facts[key]?.unreadable;
  if (!reason) return `fact ${key} was not read`;
  return `fact ${key} could not be read: ${reasonInWords(reason)}`;
}

function toFinding(rule: Rule, found: Found): Finding {
  return { code: rule.code, layer: rule.layer, ...found, consequenceOf: null };
}

/** The nearest cause that is present: by the rule's own list, and of equals the one with the same subject. */
function withCause(finding: Finding, causes: readonly string[], all: readonly Finding[]): Finding {
  for (const code of causes) {
    const present = all.filter((other) => other.code === code && canExplain(other, finding));
    const cause = present.find((other) => other.subject === finding.subject) ?? present[0];
    if (cause) return { ...finding, consequenceOf: { code: cause.code, subject: cause.subject } };
  }
  return finding;
}

/** What only warns has stopped nothing yet: something else did. */
function canExplain(cause: Finding, { severity }: Finding): boolean {
  const isLight = cause.severity === 'warning' || cause.severity === 'info';
  return !isLight || severities.indexOf(severity) >= severities.indexOf(cause.severity);
}

/** Several rules may share a code (one for each engine): the code is named once, with every reason. */
function mergeByCode(entries: readonly CannotTell[]): CannotTell[] {
  const byCode = new Map<string, string[]>();
  for (const { code, because } of entries) {
    const reasons = byCode.get(code) ?? [];
    if (!reasons.includes(because)) reasons.push(because);
    byCode.set(code, reasons);
  }
  return [...byCode].map(([code, reasons]) => ({ code, because: reasons.join('; ') }));
}
