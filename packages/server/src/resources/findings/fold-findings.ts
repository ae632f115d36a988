import type { Diagnosis, Finding } from '@gpufleet/shared/diagnosis';

/** A finding of one host as it is kept. */
export interface KeptFinding {
  id: string;
  code: string;
  /** '' for the host as a whole. */
  subject: string;
  clearedAtMs: number | null;
  openedCount: number;
}

export interface FindingChanges<Kept extends KeptFinding> {
  /** Never seen on this host before. */
  opened: Finding[];
  /** Had cleared and came back. */
  reopened: { kept: Kept; finding: Finding }[];
  /** Still there; its words or severity may have changed. */
  seen: { kept: Kept; finding: Finding }[];
  /** Open until now, and the host's rules looked and did not find it. */
  cleared: Kept[];
}

/**
 * What a new diagnosis changes. A finding whose rule could not tell this time is neither cleared nor seen: not knowing is
 * no proof of health.
 */
export function foldFindings<Kept extends KeptFinding>(
  kept: readonly Kept[],
  diagnosis: Diagnosis,
): FindingChanges<Kept> {
  const changes: FindingChanges<Kept> = { opened: [], reopened: [], seen: [], cleared: [] };
  const keptByKey = new Map(kept.map((finding) => [keyOf(finding.code, finding.subject), finding]));
  const untold = new Set(diagnosis.cannotTell.map((entry) => entry.code));
  const present = new Set<string>();
  for (const finding of diagnosis.findings) {
    const key = keyOf(finding.code, finding.subject ?? '');
    // A rule that says the same twice is one finding.
    if (present.has(key)) continue;
    present.add(key);
    const before = keptByKey.get(key);
    if (!before) changes.opened.push(finding);
    else changes[before.clearedAtMs === null ? 'seen' : 'reopened'].push({ kept: before, finding });
  }
  for (const finding of kept) {
    const isGone = finding.clearedAtMs === null && !present.has(keyOf(finding.code, finding.subject));
    if (isGone && !untold.has(finding.code)) changes.cleared.push(finding);
  }
  return changes;
}

function keyOf(code: string, subject: string): string {
  return `${code}\n${subject}`;
}
