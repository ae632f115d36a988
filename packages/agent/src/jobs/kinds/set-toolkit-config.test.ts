import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../../collector/collect-facts.ts';
import { type SimulatedClass, simulatedClassNames } from '../../host/simulated/index.ts';
import { aBench, type Bench } from '../testing/an-engine.ts';

const path = '/etc/nvidia-container-runtime/config.toml';
const set = (params: JobRequest['params']): JobRequest => ({ kind: 'set_toolkit_config', params });
const policy = set({ acceptEnvvarWhenUnprivileged: false, acceptVolumeMounts: true });

const writes = ({ host }: Bench) => host.effects.map((effect) => `${effect.do} ${'path' in effect ? effect.path : ''}`);

test.each(simulatedClassNames.filter((name) => name !== 'no-gpu'))(
  '%s: changes its keys and nothing else, restarts nothing, and goes back to the byte',
  async (hostClass: SimulatedClass) => {
    const bench = aBench(hostClass);
    const { files } = bench.host.machine;
    const before = files.text(path) ?? '';
    const engine = bench.engine();
    const done = await engine.runLocal(policy);
    expect(done).toMatchObject({ outcome: 'succeeded' });
    expect(writes(bench)).toEqual([`write ${path}`]);
    const added = (files.text(path) ?? '').split('\n').filter((line) => !before.split('\n').includes(line));
    expect(added).toEqual([
      'accept-nvidia-visible-devices-envvar-when-unprivileged = false',
      'accept-nvidia-visible-devices-as-volume-mounts = true',
    ]);
    expect(await engine.runLocal(policy)).toMatchObject({ outcome: 'noop' });
    expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
    expect(files.text(path)).toBe(before);
  },
);

test('makes a file that is missing, and takes it away again', async () => {
  const bench = aBench('k3s-agent');
  bench.host.machine.files.remove('/etc/nvidia-container-runtime');
  const engine = bench.engine();
  const done = await engine.runLocal(policy);
  expect(done).toMatchObject({ outcome: 'succeeded' });
  expect(await bench.host.stat(path)).toMatchObject({ value: { mode: 0o644 } });
  expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(bench.host.machine.files.has('/etc/nvidia-container-runtime')).toBe(false);
});

test('makes the file of a user with a rootless docker as that user’s own', async () => {
  const bench = aBench('x86-docker');
  const { files } = bench.host.machine;
  files.putDir('/home/user1', { uid: 1_000, gid: 1_000 });
  files.put('/home/user1/.config/docker/daemon.json', '{}', { uid: 1_000, gid: 1_000 });
  files.putSpecial('/run/user/1000/docker.sock', 'socket', undefined, { uid: 1_000 });
  const configPath = '/home/user1/.config/nvidia-container-runtime/config.toml';
  const engine = bench.engine();
  const request = set({ noCgroups: true, configPath });
  expect(await engine.runLocal(request)).toMatchObject({ outcome: 'succeeded' });
  expect(await bench.host.stat(configPath)).toMatchObject({ value: { uid: 1_000, mode: 0o644 } });
  expect(await bench.host.stat('/home/user1/.config/nvidia-container-runtime')).toMatchObject({
    value: { uid: 1_000 },
  });
  expect(files.text(configPath)).toBe('[nvidia-container-cli]\nno-cgroups = true\n');
  expect(await engine.runLocal(request)).toMatchObject({ outcome: 'noop' });
});

test('a setting that is not there afterwards is taken back', async () => {
  const bench = aBench('x86-containerd-2');
  const before = bench.host.machine.files.text(path);
  const engine = bench.engine({
    async collectFacts(options) {
      const facts = await collectFacts(options);
      // Somebody's tool writes the old value again at once.
      if (facts.toolkit.value) facts.toolkit.value.config.acceptVolumeMounts = false;
      return facts;
    },
  });
  expect(await engine.runLocal(policy)).toMatchObject({
    outcome: 'rolled_back',
    because: [{ because: 'setting_differs' }],
  });
  expect(bench.host.machine.files.text(path)).toBe(before);
});
