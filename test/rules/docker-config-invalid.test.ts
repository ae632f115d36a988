import { expect, test } from 'vitest';
import { unitStatesArgv } from '../../packages/shared/src/probes/read-unit-states.ts';
import { observeChanged } from './changed-host.ts';

const code = 'DOCKER_CONFIG_INVALID';
const path = '/etc/docker/daemon.json';
const twoObjects =
  '{"dns":["10.0.0.1"]\n "runtimes":{"nvidia":{"path":"nvidia-container-runtime","runtimeArgs":[]}}}\n';

test('tells a pasted daemon.json without its comma, with the position, while docker still runs', async () => {
  const host = await observeChanged('x86-docker', { files: { [path]: twoObjects } });
  const [finding] = host.of(code);
  expect(finding).toMatchObject({
    subject: `file:${path}`,
    severity: 'blocker',
    evidence: [{ source: `file:${path}`, quote: expect.stringContaining('line 2') }],
    remedy: null,
  });
  expect(finding?.summary).toContain('will not start again');
  expect(finding?.person).toContain('--validate');
});

test('tells it as well when docker is down because of it', async () => {
  const host = await observeChanged('x86-docker', {
    files: { [path]: '{“runtimes”: {}}' },
    commands: {
      [unitStatesArgv.join(' ')]: (units) =>
        units.replace(/(Id=docker\.service\n(?:.+\n)*?)ActiveState=active/, '$1ActiveState=failed'),
      'docker info --format {{json .}}': { exitCode: 1, stderr: 'Cannot connect to the Docker daemon\n' },
    },
  });
  expect(host.of(code)[0]?.summary).toContain('cannot start');
});

test('is silent without a file, on unknown keys and on hosts without docker', async () => {
  expect((await observeChanged('x86-docker', { files: { [path]: null } })).of(code)).toEqual([]);
  const unknownKey = (text: string) => text.replace('{', '{"no-such-key": 1,');
  expect((await observeChanged('x86-docker', { files: { [path]: unknownKey } })).of(code)).toEqual([]);
  expect((await observeChanged('x86-containerd-2', { files: { [path]: twoObjects } })).of(code)).toEqual([]);
});

test('cannot tell of a file that could not be read', async () => {
  const host = await observeChanged('x86-docker', { files: { [path]: { as: { error: 'EACCES' } } } });
  expect(host.of(code)).toEqual([]);
  expect(host.untold(code)).toContain('denied');
});
