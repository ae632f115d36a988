import { type Finding, layers, severities } from './finding.ts';

/** Causes first, lowest layer first, then worst severity; consequences last, by the same order. */
export function orderFindings(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => {
    const byCause = Number(a.consequenceOf !== null) - Number(b.consequenceOf !== null);
    if (byCause !== 0) return byCause;
    const byLayer = layers.indexOf(a.layer) - layers.indexOf(b.layer);
    if (byLayer !== 0) return byLayer;
    const bySeverity = severities.indexOf(a.severity) - severities.indexOf(b.severity);
    if (bySeverity !== 0) return bySeverity;
    return compareText(a.code, b.code) || compareText(a.subject ?? '', b.subject ?? '');
  });
}

// By code unit, not by locale: the order must be the same on every host.
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
