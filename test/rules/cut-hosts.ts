import { join } from 'node:path';
import { diagnose } from '@gpufleet/shared/diagnosis';
import type { HostReader } from '@gpufleet/shared/host';
import type { Facts, ProbeKey } from '@gpufleet/shared/probes';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import { openRecordedHost } from '../../packages/agent/src/host/recorded/index.ts';
import type { SimulatedClass } from '../../packages/agent/src/host/simulated/index.ts';
import { sha256 } from '../hosts/simulated-facts.ts';
import { type Changes, type Observed, observeChanged } from './changed-host.ts';

/** What programs answer, each by its argv joined with blanks, out of what was recorded. */
export type Answers = Record<string, (text: string) => string>;

export interface CutHost {
  whole: Observed;
  /** What was recorded of this command, as the answers change it. */
  answerOf(argv: readonly string[]): Promise<string>;
  /** The host with one answer cut at this length; of all others the facts are kept. */
  cutAt(argv: readonly string[], length: number): Promise<{ found: Set<string>; untold: Set<string>; facts: Facts }>;
}

/** A recorded host with other answers, of which one can be cut as often as wanted: only these probes read again. */
export async function aCutHost(
  className: SimulatedClass,
  only: readonly ProbeKey[],
  answers: Answers = {},
  ...changes: Changes[]
): Promise<CutHost> {
  const whole = await observeChanged(className, { commands: answers }, ...changes);
  const recorded = await openRecordedHost(join(import.meta.dirname, '../hosts/recorded', className));
  const given: Answers = {};
  for (const change of [{ commands: answers }, ...changes])
    for (const [argv, answer] of Object.entries(change.commands ?? {}))
      if (typeof answer === 'function') given[argv] = answer;
  const host = (cut: { argv: readonly string[]; length: number } | null): HostReader => ({
    ...recorded,
    async run(argv, options) {
      const ran = await recorded.run(argv, options);
      const name = argv.join(' ');
      if (!ran.ok) return ran;
      const stdout = given[name]?.(ran.value.stdout) ?? ran.value.stdout;
      return {
        ok: true,
        value: { ...ran.value, stdout: name === cut?.argv.join(' ') ? stdout.slice(0, cut.length) : stdout },
      };
    },
  });
  return {
    whole,
    async answerOf(argv) {
      const ran = await host(null).run(argv, { timeoutMs: 1_000 });
      return ran.ok ? ran.value.stdout : '';
    },
    async cutAt(argv, length) {
      const facts = await collectFacts({ host: host({ argv, length }), sha256, only, previous: whole.facts });
      const { findings, cannotTell } = diagnose(facts);
      return {
        found: new Set(findings.map(({ code }) => code)),
        untold: new Set(cannotTell.map(({ code }) => code)),
        facts,
      };
    },
  };
}

/** Where a text is cut: around every place that the pattern finds, and here and there between. */
export function cutsOf(text: string, pattern: RegExp, between: number): number[] {
  const found = [...text.matchAll(pattern)].flatMap(({ index, 0: { length } }) => [index, index + length]);
  const spread = Array.from({ length: between }, (_, at) => Math.floor(((at + 1) * text.length) / (between + 1)));
  return [...new Set([...found, ...spread])].filter((at) => at > 0 && at < text.length).sort((a, b) => a - b);
}

/** Codes that the whole host has and the cut one neither has nor leaves open, and codes that only the cut one has. */
export function differences(whole: Observed, cut: Awaited<ReturnType<CutHost['cutAt']>>) {
  const known = new Set(whole.findings.map(({ code }) => code));
  return {
    silenced: [...known].filter((code) => !cut.found.has(code) && !cut.untold.has(code)),
    invented: [...cut.found].filter((code) => !known.has(code)),
  };
}
