import { expect, test } from 'vitest';
import type { ConfigFile } from '../../probes/fact.ts';
import { aFile, aHost, aUnit, noFile } from '../testing/a-host.ts';
import { cannotTellOf, findingsOf } from '../testing/findings-of.ts';

const code = 'DOCKER_CONFIG_INVALID';
const path = '/etc/docker/daemon.json';
const withFile = (configFile: ConfigFile, activeState = 'active') =>
  aHost('x86_docker', {
    docker: (docker) => ({ ...docker, configFile, config: null, unit: aUnit('docker.service', { activeState }) }),
  });

test('tells a broken daemon.json with its position while docker still runs', () => {
  const [finding] = findingsOf(withFile(aFile(path, { error: 'line 2 column 2: expected a comma' })), code);
  expect(finding).toMatchObject({
    subject: `file:${path}`,
    severity: 'blocker',
    evidence: [{ source: `file:${path}`, quote: 'line 2 column 2: expected a comma' }],
    remedy: null,
  });
  expect(finding?.summary).toContain('will not start again');
  expect(finding?.person).toContain('--validate');
});

test('tells it as well when docker is down because of it', () => {
  expect(findingsOf(withFile(aFile(path, { error: 'x' }), 'failed'), code)[0]?.summary).toContain('cannot start');
});

test('is silent without a file and on hosts without docker', () => {
  expect(findingsOf(withFile(noFile(path)), code)).toEqual([]);
  const facts = aHost('x86_containerd', {
    docker: (docker) => ({ ...docker, configFile: aFile(path, { error: 'x' }) }),
  });
  expect(findingsOf(facts, code)).toEqual([]);
});

test('cannot tell of a file that could not be read', () => {
  const facts = withFile(aFile(path, { sha256: null, error: 'denied: EACCES' }));
  expect(findingsOf(facts, code)).toEqual([]);
  expect(cannotTellOf(facts, code)).toContain('denied');
});
