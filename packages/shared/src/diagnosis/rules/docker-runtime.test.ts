import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import {
  aFile,
  aHost,
  aUnit,
  earlierMs,
  type HostKind,
  laterMs,
  noFile,
  startedAtMs,
  withPartial,
} from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

// Three codes part one situation, "docker has no nvidia runtime", by what its file says and when it was changed.
const codes = ['DOCKER_RUNTIME_NOT_CONFIGURED', 'DOCKER_CONFIG_NOT_READ', 'RUNTIME_RESTART_PENDING'] as const;
const path = '/etc/docker/daemon.json';

function withDocker(
  change: { inFile: boolean; mtimeMs?: number; live?: 'none' | 'silent'; more?: Partial<FactValue<'docker'>> },
  kind: HostKind = 'x86_docker',
) {
  return aHost(kind, {
    docker: (docker) => ({
      ...docker,
      configFile: aFile(path, { mtimeMs: change.mtimeMs ?? earlierMs }),
      config: docker.config && { ...docker.config, runtimes: change.inFile ? docker.config.runtimes : [] },
      live: change.live === 'silent' ? null : docker.live && { ...docker.live, runtimes: ['runc'] },
      ...change.more,
    }),
  });
}

const which = (facts: ReturnType<typeof aHost>) => codes.filter((code) => findingsOf(facts, code).length > 0);

test('neither file nor daemon: not configured, a blocker on Tegra and degraded elsewhere', () => {
  const facts = withDocker({ inFile: false });
  expect(which(facts)).toEqual(['DOCKER_RUNTIME_NOT_CONFIGURED']);
  const [finding] = findingsOf(facts, 'DOCKER_RUNTIME_NOT_CONFIGURED');
  expect(finding).toMatchObject({
    severity: 'degraded',
    remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }], approval: 'window' },
  });
  const [onTegra] = findingsOf(withDocker({ inFile: false }, 'orin'), 'DOCKER_RUNTIME_NOT_CONFIGURED');
  expect(onTegra?.severity).toBe('blocker');
});

test('no daemon.json at all is not configured either', () => {
  const facts = withDocker({ inFile: false, more: { configFile: noFile(path), config: null } });
  expect(which(facts)).toEqual(['DOCKER_RUNTIME_NOT_CONFIGURED']);
});

test('in a file newer than the daemon: a restart is pending', () => {
  const facts = withDocker({ inFile: true, mtimeMs: laterMs });
  expect(which(facts)).toEqual(['RUNTIME_RESTART_PENDING']);
  const [finding] = findingsOf(facts, 'RUNTIME_RESTART_PENDING');
  expect(finding).toMatchObject({
    subject: 'unit:docker.service',
    remedy: { jobs: [{ kind: 'restart_service', params: { unit: 'docker', action: 'restart' } }], approval: 'window' },
  });
  expect(finding?.evidence.at(-1)?.quote).toBe('ContainersRunning: 3');
});

test('in a file older than the daemon: the daemon does not read it', () => {
  const facts = withDocker({ inFile: true, mtimeMs: startedAtMs - 1 });
  expect(which(facts)).toEqual(['DOCKER_CONFIG_NOT_READ']);
  expect(findingsOf(facts, 'DOCKER_CONFIG_NOT_READ')[0]).toMatchObject({ subject: `file:${path}`, remedy: null });
});

test('a daemon that lists nvidia is asked first: flags may give it what no file has', () => {
  const facts = aHost('x86_docker', {
    docker: (docker) => ({ ...docker, config: docker.config && { ...docker.config, runtimes: [] } }),
  });
  expect(which(facts)).toEqual([]);
});

test('a broken file comes first', () => {
  const facts = withDocker({ inFile: false, more: { configFile: aFile(path, { error: 'line 1' }), config: null } });
  expect(which(facts)).toEqual([]);
  expect(findingsOf(facts, 'DOCKER_CONFIG_INVALID')).toHaveLength(1);
});

test('a missing toolkit and a silent driver come first', () => {
  const base = withDocker({ inFile: false });
  const toolkit = { ...base.toolkit, value: base.toolkit.value && { ...base.toolkit.value, installed: false } };
  expect(which({ ...base, toolkit })).toEqual([]);
  const driver = { ...base.driver, value: base.driver.value && { ...base.driver.value, loadedVersion: null } };
  expect(which({ ...base, driver })).toEqual([]);
});

test('is silent on a Kubernetes host whose kubelet uses another engine, and without a GPU', () => {
  const k3s = aHost('k3s_server', { docker: () => withDocker({ inFile: false }).docker.value ?? never() });
  expect(which(k3s)).toEqual([]);
  expect(which(aHost('no_gpu'))).toEqual([]);
});

test('leaves the snap to a person: it keeps a configuration of its own', () => {
  const [finding] = findingsOf(
    withDocker({ inFile: false, more: { binary: '/snap/docker/current/bin/dockerd' } }),
    'DOCKER_RUNTIME_NOT_CONFIGURED',
  );
  expect(finding?.remedy).toBeNull();
  expect(finding?.person).toContain('snap');
});

test('cannot tell while a running daemon does not answer, and is silent about one that is down', () => {
  const silent = withPartial(withDocker({ inFile: true, live: 'silent' }), 'docker', 'live', 'timed_out');
  expect(which(silent)).toEqual([]);
  expect(cannotTellOf(silent, 'RUNTIME_RESTART_PENDING')).toBe('docker did not answer: timed_out');
  const down = withDocker({
    inFile: true,
    live: 'silent',
    more: { unit: aUnit('docker.service', { activeState: 'inactive' }) },
  });
  expect(which(down)).toEqual([]);
  expect(codes.map((code) => cannotTellOf(down, code))).toEqual([null, null, null]);
});

test('cannot tell pending from unread without the start time of the daemon', () => {
  const facts = withDocker({ inFile: true, more: { unit: aUnit('docker.service', { startedAtMs: null }) } });
  expect(which(facts)).toEqual([]);
  expect(cannotTellOf(facts, 'DOCKER_CONFIG_NOT_READ')).toContain('it is not known');
});

function never(): never {
  throw new Error('the healthy host has docker');
}
