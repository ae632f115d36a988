import type { Finding } from '@gpufleet/shared/diagnosis';
import { expect, test } from 'vitest';
import { observeChanged } from './changed-host.ts';
import { expectPlannable } from './expect-plannable.ts';

const proposing = (params: Record<string, string>, code = 'DOCKER_RUNTIME_NOT_CONFIGURED'): Finding => ({
  code,
  subject: null,
  layer: 'engine',
  severity: 'blocker',
  summary: '',
  evidence: [],
  remedy: { jobs: [{ kind: 'configure_runtime', params }], approval: 'window' },
  person: null,
  consequenceOf: null,
});

// Every test of this folder asks the same of each finding: see `judged`.
test('a proposal that would be refused, or would do nothing, on its own host is told', async () => {
  const { facts } = await observeChanged('x86-docker');
  expect(() => expectPlannable(proposing({ runtime: 'docker' }), facts)).toThrow('noop: already_configured');
  expect(() => expectPlannable(proposing({ runtime: 'crio' }), facts)).toThrow('blocked: not_installed');
  expect(() => expectPlannable(proposing({ runtime: 'podman' }), facts)).toThrow('blocked: unsupported_params');
});

test('a job may wait for the toolkit that the same remedy installs, and for nothing else', async () => {
  const files = ['nvidia-container-runtime', 'nvidia-container-runtime.cdi', 'nvidia-container-runtime.legacy'];
  const { facts } = await observeChanged('x86-docker', {
    files: Object.fromEntries(files.map((name) => [`/usr/bin/${name}`, null])),
  });
  const waiting = proposing({ runtime: 'docker' }, 'TOOLKIT_NOT_INSTALLED');
  expect(() => expectPlannable(waiting, facts)).not.toThrow();
  expect(() => expectPlannable(proposing({ runtime: 'docker' }), facts)).toThrow('runtime_binary_missing');
});
