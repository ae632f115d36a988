import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { createSimulatedHost, type SimulatedClass } from '../../host/simulated/index.ts';
import type { Kubernetes } from '../../host/simulated/machine.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';
import { hostState } from '../testing/host-state.ts';

const ensure: JobRequest = { kind: 'ensure_runtime_class', params: {} };
const drained: JobRequest = { kind: 'restart_service', params: { unit: 'k3s', drain: true } };

function clusterOf({ host }: Bench): Kubernetes {
  const { kubernetes } = host.machine;
  if (!kubernetes) throw new Error('the class is of a cluster');
  return kubernetes;
}

function doneTo({ host }: Bench): string[] {
  return host.effects.map((effect) =>
    'what' in effect ? effect.what : `${effect.do} ${'unit' in effect ? effect.unit : ''}`,
  );
}

test.each(['k3s-server', 'rke2-server', 'microk8s-server'] as const)(
  'makes the RuntimeClass on %s, asks the API for it, plans nothing more, and takes it back',
  async (hostClass: SimulatedClass) => {
    const bench = aBench(hostClass);
    const cluster = clusterOf(bench);
    cluster.runtimeClasses = cluster.runtimeClasses.filter(({ name }) => name !== 'nvidia');
    const before = hostState(bench.host.machine);
    const engine = bench.engine();
    const made = await engine.runLocal(ensure);
    expect(made).toMatchObject({ outcome: 'succeeded' });
    expect(cluster.runtimeClasses).toContainEqual({ name: 'nvidia', handler: 'nvidia' });
    expect(await engine.runLocal(ensure)).toMatchObject({ outcome: 'noop', because: [{ because: 'already_there' }] });
    expect(await engine.undo(made.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(hostState(bench.host.machine)).toEqual(before);
    expect(bench.log.errors).toEqual([]);
  },
);

test('classes that k3s made by itself are right already: nothing is done', async () => {
  const bench = aBench('k3s-server');
  expect(await bench.engine().runLocal(ensure)).toMatchObject({ outcome: 'noop' });
  expect(bench.host.effects).toEqual([]);
});

test('a handler that differs is replaced only when that is asked for, and comes back with the undo', async () => {
  const bench = aBench('k3s-server');
  const cluster = clusterOf(bench);
  cluster.runtimeClasses = [{ name: 'nvidia', handler: 'runc' }];
  const engine = bench.engine();
  expect(await engine.runLocal(ensure)).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'handler_differs' }],
  });
  const replaced = await engine.runLocal({ kind: 'ensure_runtime_class', params: { replace: true } });
  expect(replaced).toMatchObject({ outcome: 'succeeded' });
  expect(cluster.runtimeClasses).toEqual([{ name: 'nvidia', handler: 'nvidia' }]);
  expect(await engine.undo(replaced.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(cluster.runtimeClasses).toEqual([{ name: 'nvidia', handler: 'runc' }]);
});

test('a class that somebody else made in between is not ours to take back', async () => {
  const bench = aBench('k3s-server');
  const cluster = clusterOf(bench);
  cluster.runtimeClasses = [];
  const engine = bench.engine({
    onProgress: ({ text }) => {
      if (text.startsWith('keeps copies')) cluster.runtimeClasses = [{ name: 'nvidia', handler: 'nvidia' }];
    },
  });
  const result = await engine.runLocal(ensure);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  await engine.undo(result.attemptId);
  expect(cluster.runtimeClasses).toEqual([{ name: 'nvidia', handler: 'nvidia' }]);
});

test.each(['k3s-agent', 'x86-containerd-2', 'crio-worker'] as const)(
  '%s may not change the cluster: the reason names the cluster whose servers may',
  async (hostClass) => {
    const bench = aBench(hostClass);
    const facts = await bench.engine().precheck({ attemptId: 'a', request: ensure, planHash: null });
    expect(facts).toMatchObject({
      ok: false,
      because: [{ because: 'no_cluster_rights', detail: expect.stringMatching(/the cluster [0-9a-f]{64}: .*server/) }],
    });
  },
);

test('a host without Kubernetes is told so', async () => {
  expect(await aBench('x86-docker').engine().runLocal(ensure)).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'no_kubernetes' }],
  });
});

test('a drained restart takes the pods off, restarts, and lets the node take pods again', async () => {
  const bench = aBench('k3s-server', ['k3s_restart_pending']);
  const engine = bench.engine();
  const { plan } = Object(await engine.precheck({ attemptId: 'a', request: drained, planHash: null }));
  expect(plan.summary).toContain('hits pod default/inference-0');
  const result = await engine.runLocal(drained);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench)).toEqual([
    'patch node host-1',
    'evict default/inference-0',
    'restart k3s.service',
    'patch node host-1',
  ]);
  expect(clusterOf(bench)).toMatchObject({ unschedulable: false, annotations: {}, pods: [{ isPending: false }] });
  expect(await engine.runLocal(drained)).toMatchObject({ outcome: 'noop' });
});

test('a node that a person has cordoned is drained and stays cordoned', async () => {
  const bench = aBench('k3s-server', ['k3s_restart_pending']);
  clusterOf(bench).unschedulable = true;
  const result = await bench.engine().runLocal(drained);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(result.steps.map(({ title }) => title)).not.toContain('cordon_node host-1');
  expect(clusterOf(bench)).toMatchObject({ unschedulable: true, annotations: {} });
});

test('a cordon that a person set while the job ran is theirs, and nothing takes it back', async () => {
  const bench = aBench('k3s-server', ['k3s_restart_pending']);
  const engine = bench.engine({
    onProgress: ({ text }) => {
      if (!text.startsWith('keeps copies')) return;
      Object.assign(clusterOf(bench), { unschedulable: true });
    },
  });
  expect(await engine.runLocal(drained)).toMatchObject({ outcome: 'succeeded' });
  expect(clusterOf(bench).unschedulable).toBe(true);
});

test('a disruption budget is waited for, and when it holds too long our cordon is taken back', async () => {
  const bench = aBench('k3s-server', ['k3s_restart_pending']);
  for (const pod of clusterOf(bench).pods) pod.mayGo = false;
  const result = await bench.engine().runLocal(drained);
  expect(result).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'drain_held_by_budget', detail: expect.stringContaining('default/inference-0') }],
  });
  expect(doneTo(bench)).toEqual(['patch node host-1', 'patch node host-1']);
  expect(clusterOf(bench)).toMatchObject({ unschedulable: false, annotations: {} });
  expect(bench.progress.filter((text) => text.includes('disruption budget')).length).toBeGreaterThan(1);
});

test.each([
  ['nothing would make it again', { controller: null }, 'pod_unmanaged'],
  ['its emptyDir would go with it', { hasEmptyDir: true }, 'pod_has_local_data'],
])('a pod is not evicted when %s', async (_, over, because) => {
  const bench = aBench('k3s-server', ['k3s_restart_pending']);
  Object.assign(clusterOf(bench).pods[0] ?? {}, over);
  expect(await bench.engine().runLocal(drained)).toMatchObject({ outcome: 'failed', because: [{ because }] });
  expect(bench.host.effects).toEqual([]);
});

test('an agent of k3s cannot drain itself, and docker has no pods to drain', async () => {
  const onAgent = aBench('k3s-agent', ['k3s_restart_pending']);
  const request: JobRequest = { kind: 'restart_service', params: { unit: 'k3s-agent', drain: true } };
  expect(await onAgent.engine().runLocal(request)).toMatchObject({ because: [{ because: 'no_cluster_rights' }] });
  const onDocker = aBench('x86-docker', ['docker_restart_pending']);
  const ofDocker: JobRequest = { kind: 'restart_service', params: { unit: 'docker', drain: true } };
  expect(await onDocker.engine().runLocal(ofDocker)).toMatchObject({ because: [{ because: 'unsupported_params' }] });
});

test('a k3s that does not come up again leaves the node cordoned by nobody once it is back', async () => {
  const bench = aBench('k3s-server', ['k3s_restart_pending', 'unit_restart_fails:k3s.service']);
  const engine = bench.engine({
    onProgress: ({ text }) => {
      if (text.startsWith('goes back')) bench.host.clearFault('unit_restart_fails:k3s.service');
    },
  });
  expect(await engine.runLocal(drained)).toMatchObject({ outcome: 'rolled_back' });
  expect(clusterOf(bench)).toMatchObject({ unschedulable: false, annotations: {} });
});

test('the simulated API answers in the words of the real one', async () => {
  const host = createSimulatedHost({ class: 'k3s-server', name: 'host-1', clock: aBench('k3s-server').clock });
  const ask = async (line: string, input?: string) => {
    const ran = await host.run(['k3s', 'kubectl', ...line.split(' ')], { timeoutMs: 5_000, ...(input && { input }) });
    return ran.ok ? `${ran.value.stdout}${ran.value.stderr}` : ran.detail;
  };
  const made = JSON.stringify({ kind: 'RuntimeClass', handler: 'nvidia', metadata: { name: 'nvidia' } });
  expect(await ask('create -f -', made)).toContain('(AlreadyExists)');
  expect(await ask('delete runtimeclass none')).toContain('(NotFound)');
  expect(await ask('patch runtimeclass nvidia -p {}')).toContain('field is immutable');
  expect(await ask('get runtimeclass nvidia -o json')).toContain('"handler": "nvidia"');
});
