import type { JobRequest } from '@gpufleet/shared/jobs';
import { expect, test } from 'vitest';
import { collectFacts } from '../collector/collect-facts.ts';
import { aBench, aGrant, type Bench } from './testing/an-engine.ts';

const onDocker: JobRequest = { kind: 'configure_runtime', params: { runtime: 'docker' } };
const onContainerd: JobRequest = { kind: 'configure_runtime', params: { runtime: 'containerd' } };

/** What was done to the host, without the times. */
function doneTo({ host }: Bench): string[] {
  return host.effects.map((effect) => {
    const what = 'path' in effect ? effect.path : 'unit' in effect ? effect.unit : 'gpu' in effect ? effect.to : '';
    return `${effect.do} ${what}${effect.ok ? '' : ' failed'}`;
  });
}

async function textOf({ host }: Bench, path: string): Promise<string | null> {
  const read = await host.readText(path);
  return read.ok ? read.value : null;
}

test.each([
  [
    'x86-docker',
    'docker_runtime_not_configured',
    onDocker,
    ['write /etc/docker/daemon.json', 'restart docker.service'],
  ],
  ['x86-docker', 'docker_restart_pending', onDocker, ['restart docker.service']],
  [
    'x86-docker',
    'docker_restart_pending',
    { kind: 'restart_service', params: { unit: 'docker' } },
    ['restart docker.service'],
  ],
  [
    'x86-containerd-1.7',
    'containerd_runtime_not_configured',
    onContainerd,
    ['write /etc/containerd/config.toml', 'restart containerd.service'],
  ],
  [
    'x86-containerd-2',
    'containerd_runtime_not_configured',
    onContainerd,
    ['write /etc/containerd/config.toml', 'restart containerd.service'],
  ],
  [
    'k3s-server',
    'k3s_restart_pending',
    { kind: 'configure_runtime', params: { runtime: 'k3s' } },
    ['restart k3s.service'],
  ],
  [
    'k3s-agent',
    'k3s_restart_pending',
    { kind: 'configure_runtime', params: { runtime: 'k3s' } },
    ['restart k3s-agent.service'],
  ],
] as const)('repairs %s with %s, and a second run changes nothing', async (hostClass, fault, request, expected) => {
  const bench = aBench(hostClass, [fault]);
  const engine = bench.engine();
  const result = await engine.runLocal(request as JobRequest);
  expect(result).toMatchObject({ outcome: 'succeeded' });
  expect(doneTo(bench)).toEqual(expected);
  expect(bench.host.faults).toEqual([]);
  expect(await engine.runLocal(request as JobRequest)).toMatchObject({ outcome: 'noop' });
  expect(doneTo(bench)).toEqual(expected);
  expect(bench.log.errors).toEqual([]);
});

test('puts the file back and restarts again when the live daemon does not have the runtime', async () => {
  const bench = aBench('x86-containerd-1.7', ['containerd_runtime_not_configured', 'containerd_drops_runtime']);
  const before = await textOf(bench, '/etc/containerd/config.toml');
  const result = await bench.engine().runLocal(onContainerd);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'live_lacks_runtime' }] });
  expect(result.steps.map(({ state }) => state)).toEqual(['undone', 'undone']);
  expect(result.diffs[0]?.diff).toContain('+');
  expect(await textOf(bench, '/etc/containerd/config.toml')).toBe(before);
  expect(doneTo(bench)).toEqual([
    'write /etc/containerd/config.toml',
    'restart containerd.service',
    'write /etc/containerd/config.toml',
    'restart containerd.service',
  ]);
});

test('a no of the live daemon that stays the same for ten seconds is its last word; silence is waited for', async () => {
  const sinceRestart = async (faults: Parameters<typeof aBench>[1]) => {
    const bench = aBench('x86-containerd-1.7', ['containerd_runtime_not_configured', ...(faults ?? [])]);
    const engine = bench.engine({
      async collectFacts(options) {
        const facts = await collectFacts(options);
        const isBack = bench.host.effects.some((effect) => effect.do === 'restart');
        // From the restart on, the CRI gives no answer.
        if (!faults?.length && isBack && facts.containerd.value) facts.containerd.value.live = null;
        return facts;
      },
    });
    const result = await engine.runLocal(onContainerd);
    const restarts = bench.host.effects.filter((effect) => effect.do === 'restart').map(({ atMs }) => atMs);
    return { outcome: result.outcome, waitedMs: (restarts[1] ?? 0) - (restarts[0] ?? 0) };
  };
  const answered = await sinceRestart(['containerd_drops_runtime']);
  expect(answered.outcome).toBe('rolled_back');
  expect(answered.waitedMs).toBeGreaterThanOrEqual(10_000);
  expect(answered.waitedMs).toBeLessThan(20_000);
  const silent = await sinceRestart([]);
  expect(silent.waitedMs).toBeGreaterThanOrEqual(90_000);
});

test('a host that cannot be put back is quarantined until a person clears it', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured', 'unit_restart_fails:docker.service']);
  const engine = bench.engine();
  const result = await engine.runLocal(onDocker);
  expect(result).toMatchObject({ outcome: 'rollback_failed' });
  expect(engine.quarantine()).toMatchObject({ attemptId: result.attemptId });
  expect(await engine.precheck({ attemptId: 'x', request: onDocker, planHash: null })).toMatchObject({
    ok: false,
    because: [{ because: 'quarantined' }],
  });
  await expect(engine.runLocal(onDocker)).rejects.toMatchObject({ code: 'quarantined' });

  bench.host.clearFault('unit_restart_fails:docker.service');
  const next = bench.engine();
  await next.recover();
  expect(next.quarantine()).not.toBeNull();
  expect(await next.precheck({ attemptId: 'x', request: onDocker, planHash: null })).toMatchObject({
    because: [{ detail: expect.stringContaining('gpufleet-agent release --reason') }],
  });
  expect(await next.release('replaced the unit file')).toMatchObject({ attemptId: result.attemptId });
  expect(await next.runLocal(onDocker)).toMatchObject({ outcome: 'succeeded' });
  expect(await next.release('again')).toBeNull();
  expect(await bench.engine().releases()).toMatchObject([
    { quarantine: { attemptId: result.attemptId }, reason: 'replaced the unit file' },
  ]);
});

test('a damaged record of a quarantine keeps the host closed until a person releases it', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  await bench.state.write('quarantine.json', '{');
  const engine = bench.engine();
  await engine.recover();
  await expect(engine.runLocal(onDocker)).rejects.toMatchObject({ code: 'quarantined' });
  expect(await engine.release('looked at it')).toMatchObject({ because: [{ because: 'state_damaged' }] });
  expect(await engine.runLocal(onDocker)).toMatchObject({ outcome: 'succeeded' });
});

test.each(['disk_full', 'read_only_fs'] as const)('leaves the host as it was with %s', async (fault) => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured', fault]);
  const before = await textOf(bench, '/etc/docker/daemon.json');
  const result = await bench.engine().runLocal(onDocker);
  expect(result).toMatchObject({ outcome: 'failed' });
  expect(result.steps.map(({ state }) => state)).toEqual(['failed', 'not_started']);
  expect(await textOf(bench, '/etc/docker/daemon.json')).toBe(before);
});

test('a restart that hangs ends with its time limit and is not repeated for ever', async () => {
  const bench = aBench('x86-docker', ['docker_restart_pending', 'restart_hangs:docker.service']);
  const result = await bench.engine().runLocal(onDocker);
  expect(['rolled_back', 'rollback_failed']).toContain(result.outcome);
  expect(result.because[0]?.because).toBe('timed_out');
  expect(doneTo(bench).filter((effect) => effect.startsWith('restart')).length).toBe(1);
});

test('undo puts back the very bytes and is itself an attempt with a record', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const before = await textOf(bench, '/etc/docker/daemon.json');
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(onDocker);
  expect(await textOf(bench, '/etc/docker/daemon.json')).not.toBe(before);
  expect(await engine.undo(attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(await textOf(bench, '/etc/docker/daemon.json')).toBe(before);
  const history = await engine.history();
  expect(history.map(({ undoOf, result }) => [undoOf, result?.outcome])).toEqual([
    [null, 'succeeded'],
    [attemptId, 'succeeded'],
  ]);
  await expect(engine.undo('nope')).rejects.toMatchObject({ code: 'attempt_not_found' });
});

test('undo takes away the folders that were made for a file, and leaves the tree as it was', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  bench.host.machine.files.remove('/etc/docker');
  const before = await bench.host.listDir('/etc');
  const engine = bench.engine();
  const { attemptId, outcome } = await engine.runLocal(onDocker);
  expect(outcome).toBe('succeeded');
  expect(await bench.host.stat('/etc/docker')).toMatchObject({ ok: true });
  expect(await engine.undo(attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(await bench.host.listDir('/etc')).toEqual(before);
});

test('undo does not overwrite what somebody else wrote since', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(onDocker);
  bench.host.machine.files.put('/etc/docker/daemon.json', '{"debug": true}\n');
  expect(await engine.undo(attemptId)).toMatchObject({ because: [{ because: 'changed_since_plan' }] });
  expect(await textOf(bench, '/etc/docker/daemon.json')).toBe('{"debug": true}\n');
});

test('a grant is begun once, its result is owed until it is acknowledged, and told again when asked again', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  const grant = aGrant(onDocker);
  expect(await Promise.all([engine.begin(grant), engine.begin(grant)])).toEqual([
    { ok: true, begun: 'now' },
    { ok: true, begun: 'already' },
  ]);
  expect(engine.openAttempts()).toMatchObject([{ attemptId: 'attempt-1', jobId: 'job-1', serverEpoch: 3 }]);
  expect(engine.current()).toMatchObject({ attemptId: 'attempt-1' });
  expect(await engine.begin(aGrant(onDocker, { attemptId: 'attempt-2' }))).toMatchObject({
    ok: false,
    because: 'busy',
  });
  await engine.idle();
  expect(engine.current()).toBeNull();
  expect(bench.results).toMatchObject([{ attemptId: 'attempt-1', outcome: 'succeeded' }]);
  expect(await engine.owedResults()).toEqual(bench.results);
  await engine.acknowledge('attempt-1');
  expect(await engine.owedResults()).toEqual([]);

  expect(await engine.begin(grant)).toEqual({ ok: true, begun: 'already' });
  expect(await engine.owedResults()).toEqual(bench.results);
  expect(bench.results).toHaveLength(1);
  expect(doneTo(bench)).toHaveLength(2);
});

test('an offer is answered with the plan, its hash and whom it hits; another hash is refused on the offer and on the grant', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  const offer = { attemptId: 'a', request: onDocker, planHash: null };
  const precheck = await engine.precheck(offer);
  expect(precheck).toMatchObject({
    ok: true,
    plan: {
      outcome: 'plan',
      disruption: 'restarts_containers',
      summary: [
        'edit_file /etc/docker/daemon.json',
        'restart_unit docker.service',
        'hits container 3 running containers',
      ],
    },
  });
  const planHash = precheck.ok ? precheck.plan.planHash : null;
  expect(await engine.precheck({ ...offer, planHash })).toEqual(precheck);
  expect(await engine.precheck({ ...offer, planHash: 'other' })).toMatchObject({
    because: [{ because: 'plan_changed' }],
  });
  await engine.begin(aGrant(onDocker, { planHash: 'other' }));
  await engine.idle();
  expect(bench.results).toMatchObject([{ outcome: 'failed', because: [{ because: 'plan_changed' }] }]);
  expect(doneTo(bench)).toEqual([]);
  await engine.begin(aGrant(onDocker, { attemptId: 'attempt-2', planHash }));
  await engine.idle();
  expect(bench.results[1]).toMatchObject({ outcome: 'succeeded', planHash });
});

test('an offer is declined with the reasons of the blocked plan, and unknown jobs by their name', async () => {
  const bench = aBench('x86-docker', ['docker_config_invalid']);
  const engine = bench.engine();
  const ask = (request: JobRequest) => engine.precheck({ attemptId: 'a', request, planHash: null });
  expect(await ask(onDocker)).toMatchObject({ ok: false, because: [{ because: 'config_invalid' }] });
  expect(await ask({ kind: 'smoke_test', params: {} })).toMatchObject({ because: [{ because: 'not_available_yet' }] });
  await expect(engine.runLocal({ kind: 'smoke_test', params: {} })).rejects.toMatchObject({
    code: 'not_available_yet',
  });
});

test('a file of another shape than docker takes blocks the plan instead of failing the attempt', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  bench.host.machine.files.put('/etc/docker/daemon.json', '{"runtimes": []}');
  const precheck = await bench.engine().precheck({ attemptId: 'a', request: onDocker, planHash: null });
  expect(precheck).toMatchObject({ ok: false, because: [{ because: 'config_invalid' }] });
});

test('a cancel before the first step leaves the host alone, one after it goes back', async () => {
  const early = aBench('x86-docker', ['docker_runtime_not_configured']);
  const first = early.engine();
  await first.begin(aGrant(onDocker));
  await first.cancel('attempt-1', 'operator');
  await first.idle();
  expect(early.results).toMatchObject([{ outcome: 'canceled', because: [{ detail: 'operator' }] }]);
  expect(doneTo(early)).toEqual([]);

  const late = aBench('x86-docker', ['docker_runtime_not_configured']);
  const before = await textOf(late, '/etc/docker/daemon.json');
  const second = late.engine({
    onProgress({ text }) {
      if (text.startsWith('restart_unit')) void second.cancel('attempt-1', 'operator');
    },
  });
  await second.begin(aGrant(onDocker));
  await second.idle();
  expect(late.results).toMatchObject([{ outcome: 'canceled' }]);
  expect(await textOf(late, '/etc/docker/daemon.json')).toBe(before);
});

test('past its deadline an attempt does nothing', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  await engine.begin(aGrant(onDocker, { deadlineMs: -1 }));
  await engine.idle();
  expect(bench.results).toMatchObject([{ outcome: 'failed', because: [{ because: 'deadline' }] }]);
  expect(doneTo(bench)).toEqual([]);
});

test('a bug of the agent is a failed step that is logged, and the host is put back', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const before = await textOf(bench, '/etc/docker/daemon.json');
  const host = {
    ...bench.host,
    run: (...args: Parameters<Bench['host']['run']>) => {
      if (args[0].includes('restart') && bench.host.effects.length === 1) throw new Error('oops');
      return bench.host.run(...args);
    },
  };
  const result = await bench.engine({ host }).runLocal(onDocker);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'agent_bug', detail: 'oops' }] });
  expect(bench.log.errors).toHaveLength(1);
  expect(await textOf(bench, '/etc/docker/daemon.json')).toBe(before);
});

test('a file that changes between plan and write is left alone and the host is not quarantined', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const other = '{"debug": true}\n';
  const engine = bench.engine({
    onProgress: ({ text }) => {
      if (text.startsWith('edit_file')) bench.host.machine.files.put('/etc/docker/daemon.json', other);
    },
  });
  expect(await engine.runLocal(onDocker)).toMatchObject({
    outcome: 'failed',
    because: [{ because: 'changed_since_plan' }],
  });
  expect(await textOf(bench, '/etc/docker/daemon.json')).toBe(other);
  expect(engine.quarantine()).toBeNull();
});

test('while the journal cannot be written nothing is done, and the attempt goes on when it can', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  let fails = 0;
  const state = {
    ...bench.state,
    appendLine: (name: string, line: string) => {
      if (!line.includes('"begun"') || fails >= 3) return bench.state.appendLine(name, line);
      fails += 1;
      expect(doneTo(bench)).toEqual([]);
      return Promise.reject(new Error('disk full'));
    },
  };
  const result = await bench.engine({ state }).runLocal(onDocker);
  expect(result.outcome).toBe('succeeded');
  expect(fails).toBe(3);
  expect(bench.log.errors).toHaveLength(3);
});

test('keeps the records of the last 200 attempts and knows the ids of all', async () => {
  const bench = aBench('x86-docker');
  const engine = bench.engine();
  for (let n = 0; n < 203; n++) {
    await engine.begin(aGrant(onDocker, { attemptId: `attempt-${n}` }));
    await engine.idle();
  }
  expect(await engine.history()).toHaveLength(200);
  const next = bench.engine();
  await next.recover();
  expect(await next.begin(aGrant(onDocker, { attemptId: 'attempt-0' }))).toMatchObject({ because: 'pruned' });
  expect(doneTo(bench)).toEqual([]);
});

test('one line for each phase and step is told', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  await bench.engine().runLocal(onDocker);
  expect(bench.progress).toEqual([
    'reads the host and plans',
    'keeps copies of what it will change',
    'edit_file /etc/docker/daemon.json',
    'restart_unit docker.service',
    'asks the live host whether it is as wanted',
  ]);
});

test('a grant for nothing to do does not let a plan through that the host needs since', async () => {
  const bench = aBench('x86-docker');
  const engine = bench.engine();
  const offer = { attemptId: 'attempt-1', request: onDocker, planHash: null };
  const precheck = await engine.precheck(offer);
  if (!precheck.ok) throw new Error(JSON.stringify(precheck));
  expect(precheck.plan.outcome).toBe('noop');
  bench.host.addFault('docker_runtime_not_configured');
  const already = doneTo(bench);
  await engine.begin(aGrant(onDocker, { planHash: precheck.plan.planHash }));
  await engine.idle();
  expect(bench.results).toMatchObject([{ outcome: 'failed', because: [{ because: 'plan_changed' }] }]);
  expect(doneTo(bench)).toEqual(already);
});

test('a file made where a link led to nothing is removed there by an undo, and the link stays', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const { files } = bench.host.machine;
  files.remove('/etc/docker/daemon.json');
  files.putLink('/etc/docker/daemon.json', 'site.json');
  const engine = bench.engine();
  const done = await engine.runLocal(onDocker);
  expect(done).toMatchObject({ outcome: 'succeeded' });
  expect(await textOf(bench, '/etc/docker/site.json')).toContain('nvidia');
  expect(await engine.undo(done.attemptId)).toMatchObject({ outcome: 'succeeded' });
  expect(await bench.host.readLink('/etc/docker/daemon.json')).toEqual({ ok: true, value: 'site.json' });
  expect(await bench.host.lstat('/etc/docker/site.json')).toMatchObject({ ok: false, because: 'absent' });
});

test('a file whose link leads where jobs may not write blocks the plan before anything is granted', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const { files } = bench.host.machine;
  files.remove('/etc/docker/daemon.json');
  files.put('/srv/daemon.json', '{}');
  files.putLink('/etc/docker/daemon.json', '/srv/daemon.json');
  expect(await bench.engine().precheck({ attemptId: 'a', request: onDocker, planHash: null })).toMatchObject({
    ok: false,
    because: [{ because: 'path_not_allowed' }],
  });
});

test.each([
  ['zeros', '\0\0\0\0\n'],
  ['another file', '{"type":"granted"}\n'],
  ['half of it', '"granted"\nnull\n'],
])('a journal that the disk gave back as %s closes the host until a person releases it, once', async (_, text) => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  await bench.state.write('attempts/a1/journal.jsonl', text);
  await bench.state.write('attempt-order.jsonl', '\0\0\n"a1"\n');
  const engine = bench.engine();
  await engine.recover();
  expect(engine.quarantine()).toMatchObject({ attemptId: 'a1', because: [{ because: 'state_damaged' }] });
  expect(await engine.history()).toEqual([]);
  await expect(engine.undo('a1')).rejects.toMatchObject({ code: 'journal_damaged' });
  expect(await engine.begin(aGrant(onDocker, { attemptId: 'a1' }))).toMatchObject({ ok: false, because: 'pruned' });

  await engine.release('compared the files with another host');
  const next = bench.engine();
  await next.recover();
  expect(next.quarantine()).toBeNull();
  expect(await next.runLocal(onDocker)).toMatchObject({ outcome: 'succeeded' });
});

test('a result that the disk mangled in the outbox is told from the journal', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  await engine.begin(aGrant(onDocker));
  await engine.idle();
  const [owed] = await engine.owedResults();
  await bench.state.write('outbox/attempt-1.json', '\0\0\0');
  await bench.state.write('outbox/other.json', '{');
  expect(await bench.engine().owedResults()).toEqual([owed]);
});

const k3sDefault: JobRequest = { kind: 'configure_runtime', params: { runtime: 'k3s', setAsDefault: true } };

test('a change that takes the way out of the host away is undone by the agent alone', async () => {
  const bench = aBench('k3s-server', ['default_runtime_cuts_network']);
  const result = await bench.engine({ serverHeardAtMs: () => null }).runLocal(k3sDefault);
  expect(result).toMatchObject({ outcome: 'rolled_back', because: [{ because: 'not_confirmed' }] });
  expect(result.because[0]?.detail).toContain('eno1 00000000/00000000 via 0100000A');
  expect(await textOf(bench, '/etc/rancher/k3s/config.yaml.d/90-gpufleet.yaml')).toBeNull();
  expect(await textOf(bench, '/proc/net/route')).toContain('0100000A');
});

test.each([
  ['the server is heard', (bench: Bench) => bench.clock.monotonicMs() + 1, 'server_heard'],
  ['the ways out are those of before', () => null, 'routes_as_before'],
] as const)('a change that could cut the host off stays when %s', async (_, heard, because) => {
  const bench = aBench('k3s-server');
  const engine = bench.engine({ serverHeardAtMs: () => heard(bench) });
  await engine.begin(aGrant(k3sDefault));
  await engine.idle();
  expect(bench.results).toMatchObject([{ outcome: 'succeeded', because: [{}, { because }] }]);
});

test('what must last a boot is asked for once more after it, and a loss is on record', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const { attemptId } = await bench.engine().runLocal(onDocker);
  const afterBoot = async () => {
    const engine = bench.engine();
    await engine.recover();
    await engine.idle();
    return (await engine.history()).find((attempt) => attempt.attemptId === attemptId)?.afterBoot;
  };
  expect(await afterBoot()).toBeNull();
  // Something that runs at boot puts the file back: the next start of docker does not know the runtime.
  bench.host.machine.files.put('/etc/docker/daemon.json', '{}');
  bench.host.reboot();
  expect(await afterBoot()).toMatchObject({ ok: false, because: [{ because: 'live_lacks_runtime' }] });
  expect(bench.log.errors).toMatchObject([{ fields: { attemptId } }]);
});

test('a later job answers for what lasts a boot, not the one before it', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const before = bench.engine();
  const first = await before.runLocal(onDocker);
  expect(await before.undo(first.attemptId)).toMatchObject({ outcome: 'succeeded' });
  bench.host.reboot();
  const engine = bench.engine();
  await engine.recover();
  await engine.idle();
  expect((await engine.history()).map(({ afterBoot }) => afterBoot)).toEqual([null, null]);
  expect(bench.log.errors).toEqual([]);
});

test('reboots once for a driver that waits for it, and goes on in the next boot', async () => {
  const bench = aBench('x86-docker', ['driver_library_mismatch']);
  const reboot: JobRequest = { kind: 'reboot_host', params: {} };
  const engine = bench.engine({ serverHeardAtMs: () => null });
  expect(await engine.runLocal(reboot)).toMatchObject({ outcome: 'succeeded', because: [{ because: 'rebooted' }, {}] });
  expect(doneTo(bench)).toEqual(['reboot ']);
  expect(await engine.runLocal(reboot)).toMatchObject({ outcome: 'noop' });
  const asked: JobRequest = { kind: 'reboot_host', params: { unlessBootedAfterMs: bench.clock.nowMs() + 5_000 } };
  await new Promise<void>((resolve) => void bench.clock.after(10_000, resolve));
  expect(await engine.runLocal(asked)).toMatchObject({ outcome: 'succeeded' });
  expect(await engine.runLocal(asked)).toMatchObject({ outcome: 'noop', because: [{ because: 'booted_since' }] });
  expect(doneTo(bench)).toEqual(['reboot ', 'reboot ']);
});

test('an agent that ends with the host carries its attempt on in the next boot', async () => {
  const bench = aBench('x86-docker', ['driver_library_mismatch']);
  const first = bench.engine({
    host: {
      ...bench.host,
      // The order is taken and the agent is told to end before the host goes down.
      run: async (argv, options) => {
        if (argv[1] !== 'reboot') return bench.host.run(argv, options);
        void first.stop();
        return { ok: true, value: { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false } };
      },
    },
  });
  await first.begin(aGrant({ kind: 'reboot_host', params: {} }));
  await first.idle();
  expect(bench.results).toEqual([]);
  bench.host.reboot();
  const second = bench.engine();
  await second.recover();
  await second.idle();
  expect(bench.results).toMatchObject([{ outcome: 'succeeded' }]);
  expect(doneTo(bench)).toEqual(['reboot ']);
});

test('what was undone is not undone again, and a reboot has nothing to undo', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const engine = bench.engine();
  const { attemptId } = await engine.runLocal(onDocker);
  expect(await engine.undo(attemptId)).toMatchObject({ outcome: 'succeeded' });
  const done = doneTo(bench);
  expect(await engine.undo(attemptId)).toMatchObject({ outcome: 'noop', because: [{ because: 'nothing_to_undo' }] });
  expect(doneTo(bench)).toEqual(done);

  const other = aBench('x86-docker', ['driver_library_mismatch']);
  const rebooting = other.engine();
  const reboot = await rebooting.runLocal({ kind: 'reboot_host', params: {} });
  expect(await rebooting.undo(reboot.attemptId)).toMatchObject({ outcome: 'noop' });
});

test('a plan that a person said yes to is not carried out on a host that has changed since', async () => {
  const bench = aBench('x86-docker', ['docker_runtime_not_configured']);
  const result = await bench.engine().runLocal(onDocker, 'of another plan');
  expect(result).toMatchObject({ outcome: 'failed', because: [{ because: 'plan_changed' }] });
  expect(doneTo(bench)).toEqual([]);
});

test('a reboot after which units are down is a person’s to look at', async () => {
  const bench = aBench('x86-docker', ['driver_library_mismatch', 'unit_restart_fails:docker.service']);
  const engine = bench.engine();
  const result = await engine.runLocal({ kind: 'reboot_host', params: {} });
  expect(result).toMatchObject({ outcome: 'rollback_failed', because: [{ because: 'unit_not_active' }] });
  expect(engine.quarantine()).not.toBeNull();
});
