import type { Rule } from './define-rule.ts';
import { layers } from './finding.ts';

/** The page of all rules, one table row for each, from the hardware up. */
export function renderRulesDoc(rules: readonly Rule[]): string {
  const ordered = layers.flatMap((layer) => rules.filter((rule) => rule.layer === layer));
  return [
    '# Diagnosis rules',
    '',
    'What `gpufleet-agent doctor` can say of a host, from the lowest layer up. This page is generated from the rules:',
    '`npm run golden` writes it.',
    '',
    '- A rule asks the live daemon first and its files second, and never takes what it could not read for absent:',
    '  then it says *could not tell*.',
    '- A finding that another finding explains is listed as its consequence.',
    '- Severity is the worst that the rule says. Remedies are job kinds; *a person* means that no job may do it alone.',
    '',
    '| code | layer | severity | fires when (evidence) | stays quiet when | remedy |',
    '|---|---|---|---|---|---|',
    ...ordered.map(toRow),
    '',
  ].join('\n');
}

function toRow(rule: Rule): string {
  const nothing = rule.severity === 'info' ? 'nothing to do' : 'a person';
  const remedy = rule.proposes.length > 0 ? rule.proposes.map((kind) => `\`${kind}\``).join(', ') : nothing;
  const cells = [`\`${rule.code}\``, rule.layer, rule.severity, rule.title, rule.notWhen, remedy];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
