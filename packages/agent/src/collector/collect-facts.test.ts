import type { HostReader } from '@gpufleet/shared/host';
import { type Facts, factSchemas, probeKeys, probes, unitStatesArgv } from '@gpufleet/shared/probes';
import { createFakeReader, type FakeReader, smiXmlText } from '@gpufleet/shared/probes/testing';
import { expect, test, vi } from 'vitest';
import { sha256 } from '../identity/key.ts';
import { collectFacts } from './collect-facts.ts';

const query = 'nvidia-smi -q -x';

function aHost(): FakeReader {
  return createFakeReader({
    files: {
      '/proc/modules': '',
      '/sys/bus/pci/devices/': '',
      '/usr/bin/dockerd': 'ELF',
      '/usr/bin/containerd': 'ELF',
      '/usr/local/bin/k3s': 'ELF',
    },
    commands: { [query]: smiXmlText(), [unitStatesArgv.join(' ')]: 'Id=docker.service\nLoadState=loaded\n' },
  });
}

test('reads every fact, each valid by its schema, and says how', async () => {
  const facts = await collectFacts({ host: aHost(), sha256 });
  expect(Object.keys(facts).sort()).toEqual([...probeKeys].sort());
  for (const key of probeKeys) expect(factSchemas[key].safeParse(facts[key])).toMatchObject({ success: true });
  expect(facts.gpus).toMatchObject({ readAtMs: 1_800_000_000_000, how: [`command:${query}`], unreadable: null });
  expect(facts.pci.how).toEqual(['file:/sys/bus/pci/devices', 'file:/proc/cmdline']);
});

test('runs a command that several probes share once, and each fact still names it', async () => {
  const host = aHost();
  const facts = await collectFacts({ host, sha256 });
  expect(host.reads.commands.filter(([program]) => program === 'systemctl')).toHaveLength(1);
  const units = `command:${unitStatesArgv.join(' ')}`;
  for (const key of ['docker', 'containerd', 'k3s'] as const) expect(facts[key].how).toContain(units);
});

test('asks again in the next observation', async () => {
  const host = aHost();
  await collectFacts({ host, sha256 });
  await collectFacts({ host, sha256 });
  expect(host.reads.commands.filter(([program]) => program === 'nvidia-smi')).toHaveLength(2);
});

test('asks nvidia-smi last', async () => {
  const host = aHost();
  await collectFacts({ host, sha256 });
  expect(host.reads.commands.at(-1)).toEqual(['nvidia-smi', '-q', '-x']);
});

test('a probe sees the facts that it builds upon, and reads nothing of the others’', async () => {
  const host = aHost();
  const facts = await collectFacts({
    host,
    sha256,
    only: ['workloads'],
    previous: await collectFacts({ host, sha256 }),
  });
  expect(facts.workloads.unreadable).toBeNull();
  for (const { key, after = [] } of probes)
    for (const other of after) expect(facts[other], `${key}: ${other}`).toBeDefined();
});

test('never runs two nvidia-smi on one host, whoever asks', async () => {
  const host = aHost();
  let running = 0;
  let most = 0;
  const slow: HostReader = {
    ...host,
    async run(argv, options) {
      const counts = argv[0] === 'nvidia-smi';
      if (counts) most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (counts) running -= 1;
      return host.run(argv, options);
    },
  };
  const asked = [1, 2, 3].map(() => collectFacts({ host: slow, sha256, only: ['gpus'] }));
  for (const facts of await Promise.all(asked)) expect(facts.gpus.value?.gpus).toHaveLength(1);
  expect(most).toBe(1);
});

test('reads only what it is asked for and says so of the rest', async () => {
  const host = aHost();
  const facts = await collectFacts({ host, sha256, only: ['docker'] });
  expect(facts.docker.value?.installed).toBe(true);
  expect(facts.gpus).toMatchObject({ value: null, how: [], unreadable: { because: 'not_read' } });
  expect(host.reads.commands.some(([program]) => program === 'nvidia-smi')).toBe(false);
});

test('keeps earlier facts of the probes that do not run', async () => {
  const host = aHost();
  const previous = await collectFacts({ host, sha256 });
  const facts = await collectFacts({ host, sha256, only: ['os'], previous });
  expect(facts.gpus).toBe(previous.gpus);
  expect(facts.os).not.toBe(previous.os);
});

test('makes a fact and a log line of a probe that throws, and goes on', async () => {
  const host = aHost();
  const error = vi.fn();
  const broken: HostReader = {
    ...host,
    listDir(path) {
      if (path === '/sys/bus/pci/devices') throw new Error('a bug');
      return host.listDir(path);
    },
  };
  const facts: Facts = await collectFacts({ host: broken, sha256, log: { error } });
  expect(facts.pci).toMatchObject({ value: null, unreadable: { because: 'probe_failed', detail: 'a bug' } });
  expect(facts.gpus.value?.gpus).toHaveLength(1);
  expect(error).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ probe: 'pci' }), 'probe failed');
});

test('gives no command more than a minute', async () => {
  const host = aHost();
  const limits: number[] = [];
  const watched: HostReader = {
    ...host,
    run(argv, options) {
      limits.push(options.timeoutMs);
      return host.run(argv, options);
    },
  };
  await collectFacts({ host: watched, sha256 });
  expect(limits.length).toBeGreaterThan(0);
  expect(Math.max(...limits)).toBeLessThanOrEqual(60_000);
});

test('which processes, containers and pods there are is no part of how a fact was read', async () => {
  const at = (pid: number, id: string, pod: string, run: number) => {
    const folder = `/var/lib/docker/containers/${id.repeat(32)}`;
    const config = { ID: id.repeat(32), State: { Running: true, Pid: pid }, Config: {} };
    return createFakeReader({
      files: {
        '/usr/bin/dockerd': 'ELF',
        [`${folder}/config.v2.json`]: JSON.stringify(config),
        [`${folder}/hostconfig.json`]: '{"Runtime": "nvidia"}',
        [`/proc/${pid}/status`]: 'Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n',
        '/var/lib/kubelet/config.yaml': 'kind: KubeletConfiguration\n',
        [`/var/log/pods/a_nvidia-device-plugin-${pod}_${pod}/nvidia-device-plugin-ctr/${run}.log`]: 'x\n',
      },
    });
  };
  const [before, after] = [
    await collectFacts({ host: at(100, 'a1', 'abcde', 0), sha256 }),
    await collectFacts({ host: at(200, 'b2', 'fghij', 7), sha256 }),
  ];
  for (const key of ['workloads', 'kube'] as const)
    expect([...after[key].how].sort()).toEqual([...before[key].how].sort());
  expect(before.workloads.how).toContain('file:/var/lib/docker/containers/*/config.v2.json');
  expect(before.workloads.how).toContain('file:/proc/*/status');
  expect(before.kube.how).toContain('file:/var/log/pods/*/nvidia-device-plugin-ctr/*.log');
});
