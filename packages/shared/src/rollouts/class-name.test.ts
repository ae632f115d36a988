import { expect, test } from 'vitest';
import { toClassName } from './class-name.ts';

const host = { platform: 'x86', driverBranch: '570', runtime: 'docker', kubernetesRole: null, mig: null } as const;

test.each([
  [host, 'x86-570-docker'],
  [{ ...host, runtime: 'k3s', kubernetesRole: 'server' }, 'x86-570-k3s'],
  [{ ...host, runtime: 'containerd', kubernetesRole: 'agent' }, 'x86-570-containerd-k3s'],
  [{ ...host, mig: 'enabled' }, 'x86-570-docker-mig'],
  [{ ...host, mig: 'disabled' }, 'x86-570-docker'],
  [{ platform: null, driverBranch: null, runtime: null, kubernetesRole: null, mig: null }, 'unknown-nodriver-unknown'],
] as const)('%j is of class %s', (hostClass, name) => {
  expect(toClassName(hostClass)).toBe(name);
});
