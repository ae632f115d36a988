import type { Sha256 } from '@gpufleet/shared/core';
import type { HostReader } from '@gpufleet/shared/host';
import {
  type AnyProbe,
  type Collected,
  type Fact,
  type Facts,
  type FactValue,
  type ProbeKey,
  probes,
} from '@gpufleet/shared/probes';
import { type CommandCache, createRecordingReader } from './recording-reader.ts';

export interface CollectOptions {
  host: HostReader;
  sha256: Sha256;
  /** Only these probes run; the facts of the others are `unreadable` because `not_read`, unless `previous` has them. */
  only?: readonly ProbeKey[];
  /** Facts of an earlier observation, kept for the probes that do not run now. */
  previous?: Partial<Facts>;
  log?: { error(fields: Record<string, unknown>, message: string): void };
}

/** The last observation of each host: two at once would run nvidia-smi twice, and it can block itself. */
const lastOf = new WeakMap<HostReader, Promise<unknown>>();

/** Reads a host. Never throws for what a host may do; observations of one host wait for each other. */
export function collectFacts(options: CollectOptions): Promise<Facts> {
  const before = lastOf.get(options.host) ?? Promise.resolve();
  const mine = before.then(() => observe(options));
  lastOf.set(
    options.host,
    mine.catch(() => undefined),
  );
  return mine;
}

async function observe(options: CollectOptions): Promise<Facts> {
  const { only, previous = {} } = options;
  const cache: CommandCache = new Map();
  const { nowMs } = await options.host.moment();
  const facts: Partial<Facts> = {};
  for (const probe of probes) {
    const runs = only === undefined || only.includes(probe.key);
    if (runs) setFact(facts, probe.key, await runProbe(probe, { ...previous, ...facts }, cache, options));
    else setFact(facts, probe.key, previous[probe.key] ?? notRead(nowMs));
  }
  // Every key of the registry was set above, and the registry has every key of Facts (tested).
  return facts as Facts;
}

function setFact(facts: Partial<Facts>, key: ProbeKey, fact: Facts[ProbeKey]): void {
  // The fact came from the probe of this key (or was kept under it), so it has this key's type.
  (facts as Record<ProbeKey, Facts[ProbeKey]>)[key] = fact;
}

function notRead(nowMs: number): Fact<never> {
  const unreadable = { because: 'not_read', detail: 'this probe was not asked' };
  return { readAtMs: nowMs, how: [], value: null, unreadable, partial: [] };
}

async function runProbe(
  probe: AnyProbe,
  earlier: Partial<Facts>,
  cache: CommandCache,
  { host, sha256, log }: CollectOptions,
): Promise<Facts[ProbeKey]> {
  const reader = createRecordingReader(host, cache);
  const { nowMs } = await host.moment();
  const collected = await collectOrExplain();
  // One probe's value and its key belong together; the union of all facts cannot say so.
  const { value, unreadable, partial = [] } = collected as Collected<FactValue<ProbeKey>>;
  return { readAtMs: nowMs, how: reader.how(), value, unreadable, partial } as Facts[ProbeKey];

  async function collectOrExplain(): Promise<Collected<FactValue<ProbeKey>>> {
    try {
      return await probe.collect({ host: reader, sha256, earlier });
    } catch (error) {
      // A bug in one probe must not blind the agent to the rest of the host: it is told as a fact and in the log.
      log?.error({ probe: probe.key, error }, 'probe failed');
      const detail = error instanceof Error ? error.message : String(error);
      return { value: null, unreadable: { because: 'probe_failed', detail: detail.slice(0, 300) } };
    }
  }
}
