import { expect, test } from 'vitest';
import { hitsControlPlane } from './control-plane.ts';

test.each([
  [{ kind: 'restart_service', params: { unit: 'k3s' } }, true],
  [{ kind: 'restart_service', params: { unit: 'k3s-agent' } }, false],
  [{ kind: 'restart_service', params: { unit: 'docker' } }, false],
  [{ kind: 'configure_runtime', params: { runtime: 'k3s' } }, true],
  [{ kind: 'configure_runtime', params: { runtime: 'docker' } }, false],
  [{ kind: 'reboot_host', params: {} }, true],
  [{ kind: 'set_mig_mode', params: {} }, false],
] as const)('%j takes the cluster’s API away: %s', (request, hits) => {
  expect(hitsControlPlane(request)).toBe(hits);
});
