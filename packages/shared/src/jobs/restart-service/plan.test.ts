import { expect, test } from 'vitest';
import type { DockerFact } from '../../probes/docker/fact.ts';
import { planJob, verifyJob } from '../plan-job.ts';
import { aDocker, aFact, aFile, aK3s, aRuntime, aToolkit, aUnit, startedAtMs } from '../testing/facts.ts';

const plan = (docker: DockerFact, params: Record<string, string | number> = {}) =>
  planJob({ kind: 'restart_service', params: { unit: 'docker', ...params } }, { docker: aFact(docker) });
const newer = aFile('/etc/docker/daemon.json', { mtimeMs: startedAtMs + 5_000 });
const down = aUnit('docker.service', { activeState: 'failed', mainPid: null });

test('restarts a unit whose file was changed after it started', () => {
  expect(plan(aDocker({ configFile: newer }))).toMatchObject({
    outcome: 'plan',
    because: [{ because: 'file_newer_than_start' }],
    steps: [{ do: 'restart_unit', unit: 'docker.service' }],
    holders: [{ name: '2 running containers' }],
  });
});

test('does not restart a unit that answers and has read all there is', () => {
  expect(plan(aDocker())).toMatchObject({ outcome: 'noop', because: [{ because: 'nothing_newer' }] });
});

test('restarts one that gives no answer, is down, or lacks a runtime that it is configured for', () => {
  expect(plan(aDocker({ live: null }))).toMatchObject({ because: [{ because: 'daemon_not_answering' }] });
  expect(plan(aDocker({ live: null, unit: down }))).toMatchObject({ because: [{ because: 'not_running' }] });
  const config = { runtimes: [aRuntime('nvidia')], defaultRuntime: null, cdi: null, dataRoot: null, liveRestore: true };
  expect(plan(aDocker({ config }))).toMatchObject({ because: [{ because: 'live_lacks_runtime' }], holders: [] });
});

test('restarts whatever the files say when the unit is older than the time given, once', () => {
  const unlessStartedAfterMs = startedAtMs + 60_000;
  expect(plan(aDocker(), { unlessStartedAfterMs })).toMatchObject({
    outcome: 'plan',
    because: [{ because: 'started_before' }],
  });
  const restarted = aDocker({ unit: aUnit('docker.service', { startedAtMs: startedAtMs + 60_000 }) });
  expect(plan(restarted, { unlessStartedAfterMs: unlessStartedAfterMs + 400 })).toMatchObject({ outcome: 'noop' });
});

test('starts what is down and enables what is not enabled, and leaves the rest', () => {
  expect(plan(aDocker({ unit: down, live: null }), { action: 'start' })).toMatchObject({
    steps: [{ do: 'start_unit' }],
  });
  expect(plan(aDocker(), { action: 'start' })).toMatchObject({ outcome: 'noop' });
  const disabled = aDocker({ unit: aUnit('docker.service', { enabled: 'disabled' }) });
  expect(plan(disabled, { action: 'enable' })).toMatchObject({ steps: [{ do: 'enable_unit' }] });
  expect(plan(aDocker(), { action: 'enable' })).toMatchObject({ outcome: 'noop' });
});

test.each([
  [
    'the file is broken, since it would not come up again',
    aDocker({ configFile: { ...newer, error: 'not_json' } }),
    'config_invalid',
  ],
  ['the unit is masked', aDocker({ unit: aUnit('docker.service', { loadState: 'masked' }) }), 'unit_masked'],
  ['the unit is unknown', aDocker({ unit: null }), 'unit_unknown'],
  ['the program is not there', aDocker({ installed: false }), 'not_installed'],
])('is blocked when %s', (_, docker, because) => {
  expect(plan(docker)).toMatchObject({ outcome: 'blocked', because: [{ because }] });
});

test('a k3s agent host has no k3s.service to restart', () => {
  const facts = { k3s: aFact(aK3s({ role: 'agent', unit: aUnit('k3s-agent.service') })), toolkit: aFact(aToolkit()) };
  const on = (unit: string) => planJob({ kind: 'restart_service', params: { unit } }, facts);
  expect(on('k3s')).toMatchObject({ outcome: 'blocked', because: [{ because: 'unit_unknown' }] });
  expect(on('k3s-agent')).toMatchObject({ outcome: 'plan', because: [{ because: 'live_lacks_runtime' }] });
});

test('is verified by another process that answers', () => {
  const verify = (after: DockerFact) =>
    verifyJob(
      { kind: 'restart_service', params: { unit: 'docker' } },
      { docker: aFact(after) },
      { docker: aFact(aDocker()) },
    );
  expect(verify(aDocker({ unit: aUnit('docker.service', { mainPid: 900 }) }))).toMatchObject({ ok: true });
  expect(verify(aDocker())).toMatchObject({ ok: false, because: [{ because: 'not_restarted' }] });
  expect(verify(aDocker({ unit: down }))).toMatchObject({ ok: false, because: [{ because: 'not_running' }] });
  expect(verify(aDocker({ unit: aUnit('docker.service', { mainPid: 900 }), live: null }))).toMatchObject({
    ok: false,
    because: [{ because: 'daemon_not_answering' }],
  });
});

test('starts the fabric manager, and takes it for done when every GPU has joined', () => {
  const fabric = (activeState: string, state: string | null) => ({
    fabric: aFact({
      nvswitches: ['0000:05:00.0'],
      nvlink5: false,
      managerVersion: '570.148.08',
      managerUnit: aUnit('nvidia-fabricmanager.service', { activeState, mainPid: null }),
      gpus: [{ uuid: 'GPU-1', state, status: null }],
      nvlinks: [],
      infinibandModules: [],
    }),
  });
  const request = {
    kind: 'restart_service' as const,
    params: { unit: 'nvidia-fabricmanager', action: 'start' },
  };
  const down = fabric('inactive', 'In Progress');
  expect(planJob(request, down)).toMatchObject({
    outcome: 'plan',
    steps: [{ do: 'start_unit', unit: 'nvidia-fabricmanager.service' }],
  });
  expect(verifyJob(request, fabric('active', 'Completed'), down)).toMatchObject({ ok: true });
  expect(verifyJob(request, fabric('active', null), down)).toMatchObject({ ok: true });
  expect(verifyJob(request, fabric('active', 'In Progress'), down)).toMatchObject({
    ok: false,
    because: [{ because: 'daemon_not_answering' }],
  });
});
