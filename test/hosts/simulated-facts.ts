import { createHash } from 'node:crypto';
import { diagnose } from '@gpufleet/shared/diagnosis';
import { collectFacts } from '../../packages/agent/src/collector/collect-facts.ts';
import {
  createSimulatedHost,
  type FaultSpec,
  type SimulatedClass,
  type SimulatedHost,
} from '../../packages/agent/src/host/simulated/index.ts';
import { createStoppedClock } from '../../packages/agent/src/host/simulated/testing/stopped-clock.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A machine at a moment that never changes, so that what is read of it never does. */
export function simulate(
  className: SimulatedClass,
  ...faults: FaultSpec[]
): SimulatedHost & { advance(ms: number): void } {
  const clock = createStoppedClock();
  const host = createSimulatedHost({ class: className, name: 'host-1', clock, faults });
  return Object.assign(host, { advance: clock.advance });
}

export async function observe(host: SimulatedHost) {
  const facts = await collectFacts({ host, sha256 });
  return { facts, ...diagnose(facts) };
}

export async function codesOf(host: SimulatedHost): Promise<string[]> {
  const { findings } = await observe(host);
  return findings.filter(({ severity }) => severity !== 'info').map(({ code }) => code);
}
