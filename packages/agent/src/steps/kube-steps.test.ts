import { type Step, undoSteps } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../collector/collect-facts.ts';
import { sha256 } from '../identity/key.ts';
import { aBench, type Bench } from '../jobs/testing/an-engine.ts';
import { hostState } from '../jobs/testing/host-state.ts';
import { applyStep, beforeStep, probeStep, type StepContext } from './index.ts';

function contextFor({ host, clock }: Bench, over: Partial<StepContext> = {}): StepContext {
  return {
    host,
    clock,
    sha256,
    collectFacts: (only) => collectFacts({ host, sha256, only }),
    snapshot: undefined,
    readSnapshot: async () => undefined,
    pause: (ms) => new Promise((resolve) => void clock.after(ms, resolve)),
    isStopping: () => false,
    tell: () => undefined,
    ...over,
  };
}

const of = { access: 'k3s', node: 'host-1' } as const;
const aClass: Step = {
  do: 'set_object',
  access: 'k3s',
  kind: 'RuntimeClass',
  namespace: null,
  name: 'ours',
  from: null,
  to: { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'nvidia' },
};
const steps: [string, Step][] = [
  ['cordon_node', { do: 'cordon_node', ...of }],
  ['set_object that makes one', aClass],
  ['set_object that deletes one', { ...aClass, name: 'nvidia', from: { handler: 'nvidia' }, to: null }],
  [
    'set_object that changes one',
    {
      ...aClass,
      kind: 'Node',
      name: 'host-1',
      from: { metadata: { labels: {} } },
      to: { metadata: { labels: { 'nvidia.com/x': 'a' } } },
    },
  ],
];

test.each(steps)('%s leaves a trace, and its inverse leaves the cluster as it was', async (_, step) => {
  const bench = aBench('k3s-server');
  const context = contextFor(bench);
  const before = hostState(bench.host.machine);
  const journaled = await beforeStep(context, step);
  expect(await probeStep(context, step, journaled)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, journaled)).toBe('present');
  expect(hostState(bench.host.machine)).not.toEqual(before);
  const done = bench.host.effects.length;
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(bench.host.effects.length).toBe(done);
  for (const back of undoSteps([{ index: 0, step, before: journaled }], [])) {
    expect(await probeStep(context, back, null)).toBe('absent');
    expect(await applyStep(context, back)).toEqual({ ok: true });
    expect(await probeStep(context, back, null)).toBe('present');
  }
  expect(hostState(bench.host.machine).sort()).toEqual(before.sort());
});

test('drain_node leaves a trace: the pods with GPUs are gone until the node takes pods again', async () => {
  const bench = aBench('k3s-server');
  const context = contextFor(bench);
  const step: Step = {
    do: 'drain_node',
    ...of,
    pods: 'gpu',
    emptyDir: 'refuse',
    unmanaged: 'refuse',
    timeoutMs: 9_000,
  };
  await applyStep(context, { do: 'cordon_node', ...of });
  expect(await beforeStep(context, step)).toEqual(['default/inference-0']);
  expect(await probeStep(context, step, null)).toBe('absent');
  expect(await applyStep(context, step)).toEqual({ ok: true });
  expect(await probeStep(context, step, null)).toBe('present');
  await applyStep(context, { do: 'uncordon_node', ...of });
  expect(await probeStep(context, step, null)).toBe('absent');
});

test('a drain of pods with GPUs passes others over', async () => {
  const bench = aBench('k3s-server');
  for (const pod of bench.host.machine.kubernetes?.pods ?? []) pod.usesGpu = false;
  const gpu: Step = { do: 'drain_node', ...of, pods: 'gpu', emptyDir: 'refuse', unmanaged: 'refuse', timeoutMs: 9_000 };
  expect(await applyStep(contextFor(bench), gpu)).toEqual({ ok: true });
  expect(bench.host.effects).toEqual([]);
  await applyStep(contextFor(bench), { do: 'cordon_node', ...of });
  expect(await applyStep(contextFor(bench), { ...gpu, pods: 'all' })).toEqual({ ok: true });
  expect(bench.host.effects.at(-1)).toMatchObject({ what: 'evict default/inference-0' });
});

test('a drain that the agent’s end breaks off is carried on by the next one', async () => {
  const bench = aBench('k3s-server');
  for (const pod of bench.host.machine.kubernetes?.pods ?? []) pod.mayGo = false;
  const step: Step = {
    do: 'drain_node',
    ...of,
    pods: 'gpu',
    emptyDir: 'refuse',
    unmanaged: 'refuse',
    timeoutMs: 9_000,
  };
  const stopping = contextFor(bench, { isStopping: () => true });
  expect(await applyStep(stopping, step)).toEqual({ ok: false, interrupted: true });
});

test('an object that is neither as before nor as wanted is left alone', async () => {
  const bench = aBench('k3s-server');
  const step: Step = { ...aClass, name: 'crun' };
  expect(await probeStep(contextFor(bench), step, null)).toBe('unclear');
  expect(await applyStep(contextFor(bench), step)).toMatchObject({ because: { because: 'changed_since_plan' } });
  expect(bench.host.effects).toEqual([]);
});

test('an API that is away is asked again until it is back', async () => {
  const bench = aBench('k3s-server');
  const { machine } = bench.host;
  const live = machine.live.k3s;
  machine.live.k3s = null;
  bench.clock.after(20_000, () => Object.assign(machine.live, { k3s: live }));
  expect(await applyStep(contextFor(bench), { do: 'cordon_node', ...of })).toEqual({ ok: true });
  machine.live.k3s = null;
  expect(await applyStep(contextFor(bench), aClass)).toMatchObject({ because: { because: 'kube_down' } });
});
