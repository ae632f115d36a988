import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import type { FaultSpec, SimulatedClass } from '../host/simulated/index.ts';
import { aBench, aGrant, type Bench } from './testing/an-engine.ts';
import { createDyingStateDir } from './testing/dying-state-dir.ts';

const configure = (runtime: string): JobRequest => ({ kind: 'configure_runtime', params: { runtime } });

interface Case {
  name: string;
  hostClass: SimulatedClass;
  faults: FaultSpec[];
  request: JobRequest;
  file: string;
  outcome: 'succeeded' | 'rolled_back';
  effects: string[];
}

const docker = '/etc/docker/daemon.json';
const containerd = '/etc/containerd/config.toml';
const cases: Case[] = [
  {
    name: 'docker',
    hostClass: 'x86-docker',
    faults: ['docker_runtime_not_configured'],
    request: configure('docker'),
    file: docker,
    outcome: 'succeeded',
    effects: [`write ${docker}`, 'restart docker.service'],
  },
  {
    name: 'containerd',
    hostClass: 'x86-containerd-1.7',
    faults: ['containerd_runtime_not_configured'],
    request: configure('containerd'),
    file: containerd,
    outcome: 'succeeded',
    effects: [`write ${containerd}`, 'restart containerd.service'],
  },
  {
    name: 'containerd that has to go back',
    hostClass: 'x86-containerd-1.7',
    faults: ['containerd_runtime_not_configured', 'containerd_drops_runtime'],
    request: configure('containerd'),
    file: containerd,
    outcome: 'rolled_back',
    effects: [`write ${containerd}`, 'restart containerd.service', `write ${containerd}`, 'restart containerd.service'],
  },
];

function effectsOn({ host }: Bench): string[] {
  return host.effects.flatMap((effect) => {
    if ('path' in effect) return [`${effect.do} ${effect.path}`];
    return 'unit' in effect ? [`${effect.do} ${effect.unit}`] : [];
  });
}

function readsElsewhere({ host }: Bench): boolean {
  const path = host.machine.live.containerd?.configPath;
  return path !== undefined && path !== containerd;
}

async function textOf({ host }: Bench, path: string): Promise<string | null> {
  const read = await host.readText(path);
  return read.ok ? read.value : null;
}

/** Runs the case with a death at write `diesAt`, then a new process on what is left. False: it lived to the end. */
async function dieAt(given: Case, diesAt: number, made: boolean, between: (bench: Bench) => void): Promise<boolean> {
  const bench = aBench(given.hostClass, given.faults);
  const before = await textOf(bench, given.file);
  const grant = aGrant(given.request);
  const state = createDyingStateDir(bench.state, diesAt, made);
  const first = bench.engine({ state, onResult: (result) => void bench.results.push(structuredClone(result)) });
  await first.begin(grant).catch((error: unknown) => expect(String(error)).toContain('died'));
  while (first.current() !== null && !state.isDead()) await new Promise((resolve) => setImmediate(resolve));
  await first.stop();
  between(bench);
  // Time passes until the agent is back: a result made a second time would tell another one.
  await new Promise<void>((resolve) => void bench.clock.after(60_000, resolve));

  const second = bench.engine();
  // What is in the outbox may be on its way to the server already.
  bench.results.push(...(await second.owedResults()));
  await second.recover();
  await second.idle();
  // The server sends a grant again until it hears of the attempt.
  await second.begin(grant);
  await second.idle();

  const where = `dies at write ${diesAt}${made ? ', made' : ''}`;
  const owed = await second.owedResults();
  const effects = effectsOn(bench);
  if (readsElsewhere(bench) && !effects.includes(`write ${given.file}`)) {
    // The boot made containerd read a file in which no job may write, before anything was done.
    expect(owed, where).toMatchObject([{ outcome: 'failed' }]);
    expect(await textOf(bench, given.file), where).toBe(before);
    return state.isDead();
  }
  expect(
    owed.map(({ outcome }) => outcome),
    where,
  ).toEqual([given.outcome]);
  for (const result of bench.results) expect(result, where).toEqual(owed[0]);
  const after = await textOf(bench, given.file);
  if (given.outcome === 'rolled_back') expect(after, where).toBe(before);
  else expect(after, where).not.toBe(before);
  expect(second.quarantine(), where).toBeNull();
  expect(second.openAttempts(), where).toEqual([]);
  expect(
    effectsOn(bench).filter((effect) => effect.startsWith('write')),
    where,
  ).toEqual(given.effects.filter((effect) => effect.startsWith('write')));
  expect(effectsOn(bench).length, where).toBeLessThanOrEqual(given.effects.length);
  if (given.outcome === 'succeeded') expect(bench.host.faults, where).toEqual([]);
  return state.isDead();
}

test.each(cases)(
  '$name: killed at any write of the journal, each effect is made once and there is one result',
  async (given) => {
    let deaths = 0;
    for (const made of [false, true]) {
      for (let diesAt = 1; await dieAt(given, diesAt, made, () => undefined); diesAt++) deaths += 1;
    }
    expect(deaths).toBeGreaterThan(16);
  },
);

test.each(cases)('$name: the same when the power goes with it', async (given) => {
  let deaths = 0;
  for (let diesAt = 1; await dieAt(given, diesAt, true, ({ host }) => host.powerCut()); diesAt++) deaths += 1;
  expect(deaths).toBeGreaterThan(8);
});
