import { expect, test } from 'vitest';
import { type Changes, observeChanged } from './changed-host.ts';
import { daemonJson } from './docker-host.ts';

const code = 'DOCKER_RUNTIME_INCOMPLETE';
const config = (value: object): Changes => ({ files: { [daemonJson]: JSON.stringify(value) } });
const nvidia = (path: string) => ({ runtimes: { nvidia: { path } } });

test('tells a runtime nvidia whose program is not there, with the program that is', async () => {
  const host = await observeChanged('x86-docker', config(nvidia('/opt/nvidia/bin/nvidia-container-runtime')));
  expect(host.of(code)).toMatchObject([
    {
      subject: `file:${daemonJson}`,
      severity: 'blocker',
      evidence: [
        { source: `file:${daemonJson}` },
        { source: 'file:/opt/nvidia/bin/nvidia-container-runtime', quote: 'absent' },
      ],
      remedy: { jobs: [{ params: { runtime: 'docker', runtimePath: '/usr/bin/nvidia-container-runtime' } }] },
    },
  ]);
});

test('tells a default runtime without its program: no container starts', async () => {
  const value = { 'default-runtime': 'crun', runtimes: { crun: { path: 'crun' } } };
  const [finding] = (await observeChanged('x86-docker', config(value))).of(code);
  expect(finding?.summary).toContain('every container');
  expect(finding).toMatchObject({ remedy: null, person: expect.stringContaining('crun') });
});

test('is silent for a name on the search path, for others than nvidia, and where nobody looked', async () => {
  for (const value of [
    nvidia('nvidia-container-runtime'),
    { runtimes: { kata: { path: '/opt/kata/bin/kata-runtime' } } },
    nvidia('/srv/a/b/c/d/nvidia-container-runtime'),
  ])
    expect((await observeChanged('x86-docker', config(value))).of(code)).toEqual([]);
});

test('follows from a toolkit that is gone, and cannot tell while daemon.json may not be read', async () => {
  const denied: Changes = { files: { [daemonJson]: { as: { error: 'EACCES' } } } };
  expect((await observeChanged('x86-docker', denied)).untold(code)).toContain('denied');
});
