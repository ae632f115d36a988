import { expect, test } from 'vitest';
import { cdiSpec, modeCdi, podmanAsDocker } from './cdi-host.ts';
import { type Changes, observeChanged } from './changed-host.ts';
import { daemonJson, unit } from './docker-host.ts';

const code = 'CDI_SPEC_MISSING';
const featuresCdi: Changes = { files: { [daemonJson]: (text) => text.replace('{', '{"features": {"cdi": true},') } };
const noSpec: Changes = { files: { '/run/cdi/nvidia.yaml': null } };
const refreshFailed = unit('nvidia-cdi-refresh.service', {
  LoadState: 'loaded',
  ActiveState: 'failed',
  SubState: 'failed',
  Result: 'exit-code',
});

test('tells that podman in docker’s place has no specification to take devices from', async () => {
  const [finding] = (await observeChanged('x86-docker', podmanAsDocker)).of(code);
  expect(finding).toMatchObject({
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'generate_cdi', params: { path: '/etc/cdi/nvidia.yaml' } }], approval: 'auto' },
  });
  expect(finding?.evidence[0]).toEqual({ source: 'file:/usr/bin/docker', quote: 'podman' });
});

test.each([
  ['the toolkit in mode cdi', modeCdi, 'mode = "cdi"'],
  ['features.cdi of docker', featuresCdi, '"cdi": true'],
])('tells it for %s', async (_, consumer, quote) => {
  const [finding] = (await observeChanged('x86-docker', consumer)).of(code);
  expect(finding?.severity).toBe('blocker');
  expect(finding?.evidence[0]?.quote).toBe(quote);
});

test('tells a broken specification as none, and makes it anew where it is', async () => {
  const broken: Changes = { files: { '/etc/cdi/gpu.yaml': 'kind: [' } };
  const [finding] = (await observeChanged('x86-docker', modeCdi, broken)).of(code);
  expect(finding?.remedy?.jobs[0]?.params).toEqual({ path: '/etc/cdi/gpu.yaml' });
});

test('tells the service that ran before the driver was there: a warning while nothing asks for CDI', async () => {
  const [finding] = (await observeChanged('x86-containerd-2', refreshFailed, noSpec)).of(code);
  expect(finding).toMatchObject({
    severity: 'warning',
    remedy: { jobs: [{ kind: 'generate_cdi', params: { path: '/var/run/cdi/nvidia.yaml' } }], approval: 'auto' },
  });
});

test('leaves drivers of the 565 branch to somebody who reads what their fault is', async () => {
  const driver: Changes = {
    files: {
      '/proc/driver/nvidia/version': (text) => text.replaceAll('570.148.08', '565.57.01'),
      '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1': { link: 'libnvidia-ml.so.565.57.01' },
      '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.565.57.01': 'ELF',
    },
  };
  const [finding] = (await observeChanged('x86-containerd-2', refreshFailed, noSpec, driver)).of(code);
  expect(finding?.remedy?.approval).toBe('approve');
  expect(finding?.person).toContain('nvsandboxutils');
});

test('is silent with a specification, although the service failed, and where nothing asks for CDI', async () => {
  expect((await observeChanged('x86-containerd-2', refreshFailed)).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-2', noSpec)).of(code)).toEqual([]);
  const spec: Changes = { files: { '/etc/cdi/nvidia.yaml': cdiSpec() } };
  expect((await observeChanged('x86-docker', modeCdi, spec)).of(code)).toEqual([]);
  const podman: Changes = { files: { '/usr/bin/podman': 'ELF' } };
  expect((await observeChanged('x86-docker', podman)).of(code)).toEqual([]);
});

test('cannot tell of a folder that could not be looked into', async () => {
  const denied: Changes = { files: { '/etc/cdi': { special: { type: 'dir' }, as: { error: 'EACCES' } } } };
  const host = await observeChanged('x86-docker', modeCdi, denied);
  expect(host.of(code).length === 0 && host.untold(code) !== null).toBe(true);
});
