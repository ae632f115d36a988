import { type Json, type Sha256, toCanonicalJson } from '@gpufleet/shared/core';
import type { Diagnosis } from '@gpufleet/shared/diagnosis';
import { type Facts, isVolatile, probes, volatilePaths, withoutPaths } from '@gpufleet/shared/probes';

/** One section of the report: sent when the server has another hash for it. */
export interface ReportSection {
  name: string;
  hash: string;
  body: Json;
}

/**
 * A section for each fact that was read, then `diagnosis`. The hash leaves out when a fact was read and the values
 * that never rest (`volatilePaths`), so that an idle host sends nothing.
 */
export function sectionsOf(facts: Facts, diagnosis: Diagnosis, sha256: Sha256): ReportSection[] {
  const sections = probes.flatMap(({ key }) => {
    const fact = facts[key];
    if (fact.unreadable?.because === 'not_read') return [];
    const { readAtMs: _, value, ...rest } = fact;
    // A sensor that answers now and then rests as little as what it measures.
    const partial = fact.partial.filter(({ path }) => !isVolatile(key, path.split('.')));
    // Parts of a probe may read side by side: in which order they did says nothing.
    const steady = {
      ...rest,
      partial,
      how: [...rest.how].sort(),
      value: withoutPaths(value, volatilePaths[key] ?? []),
    };
    return [toSection(key, fact, steady, sha256)];
  });
  return [...sections, toSection('diagnosis', diagnosis, diagnosis, sha256)];
}

function toSection(name: string, body: unknown, steady: unknown, sha256: Sha256): ReportSection {
  // Facts and diagnoses are made of plain data: through JSON they are Json and nothing is lost.
  return { name, hash: sha256(toCanonicalJson(steady)), body: JSON.parse(JSON.stringify(body)) as Json };
}
