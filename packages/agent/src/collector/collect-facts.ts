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
import { createTurns } from './turns.ts';

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

/** Enough that one waiting program does not hold up the rest, few enough that a small board does not notice. */
const maxAtOnce = 4;

async function observe(options: CollectOptions): Promise<Facts> {
  const { only, previous = {} } = options;
  const cache: CommandCache = new Map();
  const { nowMs } = await options.host.moment();
  const facts: Partial<Facts> = {};
  const read = async (probe: AnyProbe) => {
    const earlier = Object.fromEntries((probe.after ?? []).map((key) => [key, facts[key]])) as Partial<Facts>;
    setFact(facts, probe.key, await runProbe(probe, earlier, cache, options));
  };
  for (const { key } of probes) setFact(facts, key, previous[key] ?? notRead(nowMs));
  const due = probes.filter(({ key }) => only === undefined || only.includes(key));
  const isLast = (probe: AnyProbe) => probe.inputs.commands.some(({ argv }) => argv[0] === 'nvidia-smi');
  await readTogether(
    due.filter((probe) => !isLast(probe)),
    read,
  );
  // Two nvidia-smi can block each other, and each changes /dev, which the others have looked at by now.
  for (const probe of due.filter(isLast)) await read(probe);
  // Every key of the registry was set above, and the registry has every key of Facts (tested).
  return facts as Facts;
}

/** A few at a time, each after those that it builds upon: they stand before it. */
async function readTogether(due: readonly AnyProbe[], read: (probe: AnyProbe) => Promise<void>): Promise<void> {
  const inTurn = createTurns(maxAtOnce);
  const done = new Map<ProbeKey, Promise<void>>();
  for (const probe of due) {
    const before = (probe.after ?? []).map((key) => done.get(key));
    done.set(
      probe.key,
      Promise.all(before).then(() => inTurn(() => read(probe))),
    );
  }
  await Promise.all(done.values());
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
