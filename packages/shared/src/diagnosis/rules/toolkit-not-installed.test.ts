import { expect, test } from 'vitest';
import { aHost, type Breaks, type HostKind } from '../testing/a-host.ts';
import { findingsOf } from '../testing/findings-of.ts';

const code = 'TOOLKIT_NOT_INSTALLED';
const noToolkit: Breaks = { toolkit: (toolkit) => ({ ...toolkit, installed: false, version: null, binaries: [] }) };

const engines: [HostKind, string][] = [
  ['x86_docker', 'docker'],
  ['orin', 'docker'],
  ['x86_containerd', 'containerd'],
  ['k3s_server', 'k3s'],
  ['k3s_agent', 'k3s'],
];

test.each(engines)('on %s proposes to install it and to configure %s, in a window', (kind, runtime) => {
  const [finding] = findingsOf(aHost(kind, noToolkit), code);
  expect(finding?.remedy).toEqual({
    jobs: [
      { kind: 'install_toolkit', params: {} },
      { kind: 'configure_runtime', params: { runtime } },
    ],
    approval: 'window',
  });
});

test('is silent without a GPU: the same docker error has another cause', () => {
  expect(findingsOf(aHost('no_gpu', noToolkit), code)).toEqual([]);
});

test('is silent while the driver does not answer: that comes first', () => {
  const facts = aHost('x86_docker', { ...noToolkit, driver: (driver) => ({ ...driver, loadedVersion: null }) });
  expect(findingsOf(facts, code)).toEqual([]);
});

test('is silent when docker is the snap', () => {
  const facts = aHost('x86_docker', {
    ...noToolkit,
    docker: (docker) => ({ ...docker, binary: '/snap/docker/current/bin/dockerd' }),
  });
  expect(findingsOf(facts, code)).toEqual([]);
});

test('is silent when the operator’s toolkit is there', () => {
  const path = '/usr/local/nvidia/toolkit/nvidia-container-runtime';
  const facts = aHost('x86_docker', {
    toolkit: (toolkit) => ({ ...toolkit, binaries: [{ name: 'nvidia-container-runtime', path, mtimeMs: null }] }),
  });
  expect(findingsOf(facts, code)).toEqual([]);
});
