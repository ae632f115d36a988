import { expect, test } from 'vitest';
import type { FactValue } from '../../probes/facts.ts';
import { aFile, aHost, type HostKind } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'TOOLKIT_NO_CGROUPS_MISMATCH';
const noCgroups = (
  kind: HostKind,
  change: { mode?: string; version?: string } = {},
  docker: (value: FactValue<'docker'>) => FactValue<'docker'> = (value) => value,
) =>
  aHost(kind, {
    docker,
    toolkit: (toolkit) => ({
      ...toolkit,
      version: change.version ?? toolkit.version,
      config: { ...toolkit.config, noCgroups: true, mode: change.mode ?? 'auto' },
    }),
  });

test('tells the rootless setting beside a docker that runs as root', () => {
  const [finding] = findingsOf(noCgroups('x86_docker'), code);
  expect(finding).toMatchObject({
    subject: 'file:/etc/nvidia-container-runtime/config.toml',
    severity: 'blocker',
    remedy: { jobs: [{ kind: 'set_toolkit_config', params: { noCgroups: false } }], approval: 'auto' },
  });
});

test('tells it for containerd and k3s while the mode means legacy injection', () => {
  expect(findingsOf(noCgroups('x86_containerd'), code)).toHaveLength(1);
  expect(findingsOf(noCgroups('k3s_agent', { mode: 'legacy', version: '1.20.0' }), code)).toHaveLength(1);
  expect(findingsOf(noCgroups('k3s_agent', { version: '1.18.0' }), code)).toEqual([]);
});

test('is silent for a rootless docker, for CDI, on Tegra and while the setting is off', () => {
  const rootless = (docker: FactValue<'docker'>) => ({
    ...docker,
    live: docker.live && { ...docker.live, rootless: true },
  });
  expect(findingsOf(noCgroups('x86_docker', {}, rootless), code)).toEqual([]);
  expect(findingsOf(noCgroups('x86_docker', { mode: 'cdi' }), code)).toEqual([]);
  expect(findingsOf(noCgroups('orin'), code)).toEqual([]);
  expect(findingsOf(aHost('x86_docker'), code)).toEqual([]);
});

test('cannot tell when config.toml could not be read', () => {
  const facts = aHost('x86_docker', {
    toolkit: (toolkit) => ({
      ...toolkit,
      configFile: aFile('/etc/nvidia-container-runtime/config.toml', { error: 'line 3' }),
    }),
  });
  expect(cannotTellOf(facts, code)).toContain('line 3');
});
