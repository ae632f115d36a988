import { expect, test } from 'vitest';
import {
  type FaultName,
  type SimulatedClass,
  simulatedClassNames,
  simulatedFaults,
} from '../../packages/agent/src/host/simulated/index.ts';
import { codesOf, observe, simulate } from './simulated-facts.ts';

const beyondKubelet = ['kube.devicePlugin.daemonSets', 'kube.operator', 'kube.devicePlugin.configMaps'];

/** What a machine of the class cannot tell, and why that is right. */
const gaps: Partial<Record<SimulatedClass, string[]>> = {
  // An agent node has no rights to ask the cluster.
  'k3s-agent': ['kube.node', 'kube.runtimeClasses', 'kube.pods', 'kube.devicePlugin.pods', ...beyondKubelet],
  // A kubelet may ask for its node, its pods and the runtime classes.
  'x86-containerd-1.7': beyondKubelet,
  'x86-containerd-2': beyondKubelet,
  'h100-mig': beyondKubelet,
  'crio-worker': beyondKubelet,
  // It brings no crictl, and nobody else has put one on the host.
  'microk8s-server': ['microk8s.live', 'workloads.pods'],
  // The library's file has no version in its name there.
  orin: ['driver.libraryVersion'],
  // Without nvidia-smi nothing is known of GPUs, of MIG on them and of their place in a fabric.
  'no-gpu': ['gpus', 'mig_profiles', 'fabric.gpus'],
};

test.each(simulatedClassNames)('%s: every fact is read that can be', async (className) => {
  const { facts } = await observe(simulate(className));
  const missing = Object.entries(facts).flatMap(([key, fact]) => [
    ...(fact.unreadable ? [key] : []),
    ...fact.partial.map(({ path }) => `${key}.${path}`),
  ]);
  // docker-ce switches CRI off: ctr says so, and cannot tell runtimes.
  const criIsOff = simulate(className).machine.live.containerd?.cri.state === 'disabled';
  const untold = criIsOff ? ['containerd.live.runtimes', 'containerd.live.defaultRuntime'] : [];
  expect(missing.sort()).toEqual([...(gaps[className] ?? []), ...untold].sort());
});

test.each(simulatedClassNames)('%s: nothing is wrong and every rule can tell', async (className) => {
  const { findings, cannotTell } = await observe(simulate(className));
  expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([]);
  expect(cannotTell).toEqual([]);
});

test.each(simulatedClassNames)('%s: no program is asked the same twice in one observation', async (className) => {
  const host = simulate(className);
  const asked: string[] = [];
  const run = host.run.bind(host);
  await observe(
    Object.assign(host, {
      run: (argv: readonly string[], options: Parameters<typeof run>[1]) => {
        asked.push(argv.join(' '));
        return run(argv, options);
      },
    }),
  );
  expect(asked.filter((argv, at) => asked.indexOf(argv) !== at)).toEqual([]);
  // One list of pods of the API's, and one of the engine's, which alone knows their handlers.
  for (const list of [/kubectl.* get pods /, /crictl.* pods /])
    expect(asked.filter((argv) => list.test(argv)).length, String(list)).toBeLessThanOrEqual(1);
});

const shown = (Object.keys(simulatedFaults) as FaultName[]).flatMap((name) => {
  const { code, classes } = simulatedFaults[name];
  return code === null ? [] : classes.map((className) => [name, className, code] as const);
});

test.each(shown)('%s on %s is found as %s, and gone when it is repaired', async (name, className, code) => {
  const host = simulate(className, name);
  const { findings } = await observe(host);
  expect(findings.filter(({ consequenceOf }) => !consequenceOf).map((finding) => finding.code)).toContain(code);
  host.clearFault(name);
  expect(await codesOf(host)).toEqual([]);
});

const hidden = (Object.keys(simulatedFaults) as FaultName[]).flatMap((name) => {
  const { code, classes } = simulatedFaults[name];
  return code === null && name !== 'nvidia_smi_hangs' ? classes.map((className) => [name, className] as const) : [];
});

test.each(hidden)('%s on %s shows nothing until something is attempted', async (name, className) => {
  expect(await codesOf(simulate(className, name))).toEqual([]);
});

test('after a restart that dropped the runtime, the live daemon is what counts', async () => {
  const host = simulate('x86-containerd-2', 'containerd_drops_runtime');
  await host.run(['systemctl', 'restart', 'containerd.service'], { timeoutMs: 60_000 });
  const { facts } = await observe(host);
  expect(facts.containerd.value?.effective?.runtimes.map(({ name }) => name)).toEqual(['runc']);
  expect(facts.containerd.value?.unmatched?.flatMap(({ runtimes }) => runtimes.map(({ name }) => name))).toContain(
    'nvidia',
  );
  expect(facts.containerd.value?.live?.runtimes?.map(({ name }) => name)).toEqual(['runc']);
  expect(await codesOf(host)).toEqual(['WRONG_RUNTIME_CONFIGURED']);
});

test('a hanging nvidia-smi is told, not waited for', async () => {
  const host = simulate('x86-docker', 'nvidia_smi_hangs');
  const observing = observe(host);
  let over = false;
  void observing.then(() => {
    over = true;
  });
  while (!over) {
    host.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await observing).facts.gpus.unreadable?.because).toBe('timed_out');
});
