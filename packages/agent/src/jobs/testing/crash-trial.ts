import type { JobRequest } from '@gpufleet/shared/jobs';
import type { AttemptResult } from '@gpufleet/shared/protocol';
import type { FaultSpec, SimulatedClass } from '../../host/simulated/index.ts';
import { aBench, aGrant, type Bench } from './an-engine.ts';
import { createDeath } from './death.ts';
import { hostState } from './host-state.ts';

/** A job on a host that it changes. */
export interface JobCase {
  request: JobRequest;
  hostClass: SimulatedClass;
  faults?: readonly FaultSpec[];
  /** What no fault sets up. */
  prepare?(bench: Bench): void;
  /** The job cannot succeed here: it is the way back that is killed. */
  goesBack?: true;
  /** Nothing of what the job does can be put back: what a daemon loaded at its restart, a boot. */
  cannotGoBack?: true;
}

/** What a host is before the job and after it, each also after a boot. */
export interface Ends {
  before: string[];
  after: string[];
  beforeBooted: string[];
  afterBooted: string[];
  /** Points at which the process can be killed on an undisturbed way. */
  points: number;
  result: AttemptResult;
  /** Planned again right after it. */
  again: AttemptResult;
  /** Undone after that: what came of it, and what of the host is not as before. null: the job did not succeed. */
  undone: { outcome: AttemptResult['outcome']; differs: string[] } | null;
}

export function aHost({ hostClass, faults = [], prepare }: JobCase): Bench {
  const bench = aBench(hostClass, [...faults]);
  prepare?.(bench);
  return bench;
}

/** The undisturbed run, which the others are compared with. */
export async function runToEnd(given: JobCase): Promise<Ends> {
  const untouched = aHost(given);
  const before = hostState(untouched.host.machine);
  untouched.host.powerCut();
  const bench = aHost(given);
  const death = createDeath(bench.state, bench.host, Number.POSITIVE_INFINITY);
  const engine = bench.engine({ state: death.state, host: death.host });
  await engine.begin(aGrant(given.request));
  await engine.idle();
  const points = death.points();
  const [result] = bench.results;
  if (!result) throw new Error('the attempt has no result');
  const after = hostState(bench.host.machine);
  const again = await engine.runLocal(given.request);
  bench.host.powerCut();
  return {
    undone: result.outcome === 'succeeded' ? await undo(given, before) : null,
    before,
    after,
    beforeBooted: hostState(untouched.host.machine),
    afterBooted: hostState(bench.host.machine),
    points,
    result,
    again,
  };
}

async function undo(given: JobCase, before: readonly string[]): Promise<Ends['undone']> {
  const bench = aHost(given);
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(given.request);
  const { outcome } = await engine.undo(attemptId);
  return { outcome, differs: difference(hostState(bench.host.machine), before, []) };
}

export interface Trial {
  /** Of the one result that the server gets. */
  outcome: AttemptResult['outcome'];
  problems: string[];
}

/** The process is killed at one point, the power may go with it, and another process carries on. */
export async function killAt(given: JobCase, ends: Ends, diesAt: number, power: 'stays' | 'goes'): Promise<Trial> {
  const bench = aHost(given);
  const death = createDeath(bench.state, bench.host, diesAt);
  const grant = aGrant(given.request);
  const first = bench.engine({
    state: death.state,
    host: death.host,
    onResult: (result) => void bench.results.push(structuredClone(result)),
  });
  // Dead before the grant was in the journal: the server sends it again.
  await first.begin(grant).catch(() => undefined);
  while (first.current() !== null && !death.isDead()) await new Promise((resolve) => setImmediate(resolve));
  await first.stop();
  if (power === 'goes') bench.host.powerCut();
  // Time passes until the agent is back: a result made a second time would tell another one.
  await new Promise<void>((resolve) => void bench.clock.after(60_000, resolve));
  return carryOn(bench, grant, ends, given.goesBack || power === 'goes' ? [ends.before, ends.after] : [], power);
}

async function carryOn(
  bench: Bench,
  grant: ReturnType<typeof aGrant>,
  ends: Ends,
  others: readonly string[][],
  power: 'stays' | 'goes',
): Promise<Trial> {
  const engine = bench.engine();
  // What is in the outbox may be on its way to the server already.
  const sent = [...bench.results, ...(await engine.owedResults())];
  await engine.recover();
  await engine.idle();
  await engine.begin(grant);
  await engine.idle();
  const owed = await engine.owedResults();
  const [result] = owed;
  const outcome = result?.outcome ?? 'failed';
  const problems: string[] = [];
  if (owed.length !== 1 || !result) problems.push(`${owed.length} results`);
  for (const earlier of sent)
    if (JSON.stringify(earlier) !== JSON.stringify(result)) problems.push(`told ${earlier.outcome}, then ${outcome}`);
  if (engine.quarantine() !== null) problems.push('quarantined');
  if (engine.openAttempts().length > 0) problems.push('an attempt is still open');
  const [old, now] = power === 'goes' ? [ends.beforeBooted, ends.afterBooted] : [ends.before, ends.after];
  const isNew = outcome === 'succeeded' || outcome === 'noop';
  problems.push(...difference(hostState(bench.host.machine), isNew ? now : old, others));
  return { outcome, problems };
}

/** A daemon that was started on the way may have loaded what `others` tell: a boot and a restart find what is there. */
function difference(found: readonly string[], expected: readonly string[], others: readonly string[][]): string[] {
  const fine = new Set([...expected, ...others.flat().filter((line) => /^(live|unit) /.test(line))]);
  const missing = expected.filter((line) => !/^(live|unit) /.test(line) && !found.includes(line));
  return [
    ...found.filter((line) => !fine.has(line)).map((line) => `has ${line}`),
    ...missing.map((line) => `lacks ${line}`),
  ];
}
