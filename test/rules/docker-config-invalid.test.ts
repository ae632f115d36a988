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

const lately = { as: { mtimeMs: 1_795_000_000_000 } };

test('a default runtime that no entry names is told, as dockerd refuses to start on it', async () => {
  const text = '{"default-runtime": "nvidia"}';
  const host = await observeChanged('x86-docker', { files: { [path]: { text, ...lately } } });
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${path}`,
      severity: 'blocker',
      summary: expect.stringContaining('will not start again'),
      evidence: [{ quote: '"default-runtime": "nvidia", no runtimes' }],
      remedy: { jobs: [{ kind: 'configure_runtime', params: { runtime: 'docker' } }] },
    },
  ]);
});

test('a runtime with neither path nor type is told as well', async () => {
  const text = '{"runtimes": {"nvidia": {}}}';
  const host = await observeChanged('x86-docker', { files: { [path]: { text, ...lately } } });
  expect(host.of(code)[0]?.summary).toContain('neither a path nor a type');
});

test.each([
  '{"default-runtime": "runc"}',
  '{"default-runtime": "io.containerd.runc.v2"}',
  '{"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}',
])('takes %s', async (text) => {
  expect((await observeChanged('x86-docker', { files: { [path]: { text, ...lately } } })).of(code)).toEqual([]);
});

test.each([
  ['a folder', { special: { type: 'dir' } }],
  ['a link to itself', { link: 'daemon.json' }],
  ['a pipe', { special: { type: 'fifo', mode: '0644' } }],
])('tells %s in the place of the file, and nothing else claims to know what it says', async (_, change) => {
  const host = await observeChanged('x86-docker', { files: { [path]: change } });
  expect(host.of(code)).toMatchObject([{ summary: expect.stringContaining('is no file that can be read') }]);
  expect(host.causes()).toEqual([code]);
});

test('what may not be read leaves no rule silent that would have to ask it', async () => {
  const liveWithout = (text: string) => JSON.stringify({ ...JSON.parse(text), Runtimes: { runc: {} } });
  const host = await observeChanged('x86-docker', {
    files: { [path]: { as: { error: 'EACCES' } } },
    commands: { 'docker info --format {{json .}}': liveWithout },
  });
  for (const one of ['DOCKER_RUNTIME_NOT_CONFIGURED', 'DOCKER_CONFIG_NOT_READ', 'RUNTIME_RESTART_PENDING'])
    expect(host.untold(one)).toContain('denied');
  expect(host.causes()).toEqual([]);
});
