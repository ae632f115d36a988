import type { Facts } from '../../probes/facts.ts';
import { diagnose } from '../diagnose.ts';
import type { Finding } from '../finding.ts';
import { expectPromised } from './expect-promised.ts';

/** What one code says of these facts; every finding is held to what its rule promises. */
export function findingsOf(facts: Facts, code: string): Finding[] {
  const { findings } = diagnose(facts);
  for (const finding of findings) expectPromised(finding);
  return findings.filter((finding) => finding.code === code);
}

/** Why the code cannot be told, or null. */
export function cannotTellOf(facts: Facts, code: string): string | null {
  return diagnose(facts).cannotTell.find((entry) => entry.code === code)?.because ?? null;
}
